"""Harnesses that hang, crash, or do not end as they should."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from faulty.reference import Reference


class Asked(NamedTuple):
    """What a harness is asked: the command, how many rows, and the number of the request."""

    command: str
    rows: int
    number: int


def instead(when: Callable[[Asked], bool], act: Callable[[], object]) -> type[Reference]:
    """A harness that does something in place of some answers."""

    class Instead(Reference):
        number = 0

        def answer(self, request):
            self.number += 1
            rows = len(request.get("texts", request.get("input_ids", ())))
            if when(Asked(request["cmd"], rows, self.number)):
                act()
            return super().answer(request)

    return Instead


def at_the_end(act: Callable[[], object]) -> type[Reference]:
    """A harness that does something after stop."""

    class AtTheEnd(Reference):
        def serve(self):
            super().serve()
            act()

    return AtTheEnd


class TalksAfterStop(Reference):
    """A line comes after the last answer."""

    def serve(self):
        super().serve()
        self.write("bye")


hang = partial(time.sleep, 600)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS: dict[str, type[Reference]] = {
    "NeverAnswers": instead(lambda asked: asked.rows == 2, hang),
    "HangsOnEveryFifth": instead(lambda asked: asked.number == 5, hang),
    "HangsOnEveryOther": instead(lambda asked: asked.command != "start", hang),
    "SlowStart": instead(lambda asked: asked.command == "start", hang),
    "CrashesOnCase": instead(lambda asked: asked.rows == 3, partial(sys.exit, "out of luck")),
    "CrashesOften": instead(
        lambda asked: asked.command in ("embed_ids", "embed", "stream"), partial(sys.exit, 9)
    ),
    "Killed": instead(lambda asked: (asked.command, asked.rows) == ("embed", 3), kill),
    "CrashesAlways": instead(
        lambda asked: asked.command == "start", partial(sys.exit, "cannot load the runtime")
    ),
    "CrashesAfterStart": instead(lambda asked: asked.command != "start", partial(sys.exit, 7)),
    "ExitCode": at_the_end(partial(sys.exit, 3)),
    "StaysAfterStop": at_the_end(hang),
    "TalksAfterStop": TalksAfterStop,
}
