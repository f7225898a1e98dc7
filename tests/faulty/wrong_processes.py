# ruff: noqa: ARG002 - a fault keeps the signature of what it takes the place of
"""Harnesses that hang, crash, or do not end as they should."""

from __future__ import annotations

import os
import signal
import sys
import time

from faulty.reference import Reference


class NeverAnswers(Reference):
    """Case two is never answered."""

    def answer(self, request):
        if len(request.get("texts", request.get("input_ids", ()))) == 2:
            time.sleep(600)
        return super().answer(request)


class HangsOnEveryFifth(Reference):
    """Every fifth request to a process is never answered."""

    asked = 0

    def answer(self, request):
        self.asked += 1
        if self.asked == 5:
            time.sleep(600)
        return super().answer(request)


class HangsOnEveryOther(Reference):
    """Every request other than start is never answered."""

    def answer(self, request):
        if request["cmd"] != "start":
            time.sleep(600)
        return super().answer(request)


class SlowStart(Reference):
    """The model takes for ever to load."""

    def start(self, request):
        time.sleep(600)


class CrashesOnCase(Reference):
    """Case three ends the process, with a reason on standard error."""

    def answer(self, request):
        if len(request.get("texts", request.get("input_ids", ()))) == 3:
            sys.exit("out of luck")
        return super().answer(request)


class CrashesOften(Reference):
    """Each request for vectors ends the process; token ids are answered."""

    def encode(self, vectors):
        sys.exit(9)


class Killed(Reference):
    """embed of case three ends the process by a signal."""

    def embed(self, request):
        if len(request["texts"]) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(request)


class CrashesAlways(Reference):
    """The process ends at start."""

    def start(self, request):
        sys.exit("cannot load the runtime")


class CrashesAfterStart(Reference):
    """The process ends at every request but start."""

    def answer(self, request):
        if request["cmd"] != "start":
            sys.exit(7)
        return super().answer(request)


class ExitCode(Reference):
    """The process ends with an exit code after stop."""

    def serve(self):
        super().serve()
        sys.exit(3)


class StaysAfterStop(Reference):
    """The process does not end after stop."""

    def serve(self):
        super().serve()
        time.sleep(600)


class TalksAfterStop(Reference):
    """A line comes after the last answer."""

    def serve(self):
        super().serve()
        self.write("bye")
