# ruff: noqa: ARG002 - a fault keeps the signature of what it takes the place of
"""Harnesses that break the protocol, or answer with an error or a skip."""

from __future__ import annotations

import json

from faulty.reference import Reference


class PrintsGarbage(Reference):
    """A library's warning gets into the stream before the answer to embed."""

    def embed(self, request):
        self.write("warning: 1 file is deprecated")
        return super().embed(request)


class ByteOrderMark(Reference):
    """The first line begins with a byte order mark, as streams of Windows may."""

    def reply(self, request, answer):
        if request["cmd"] == "start":
            self.out.reconfigure(encoding="utf-8")
            self.out.write("\ufeff")
        super().reply(request, answer)


class NotAscii(Reference):
    """embed is answered with characters that are not escaped."""

    def reply(self, request, answer):
        self.out.reconfigure(encoding="utf-8")
        if request["cmd"] == "embed":
            answer = {"errored": True, "kind": "internal", "message": "caf\u00e9"}
            self.write(json.dumps({"seq": request["seq"], **answer}, ensure_ascii=False))
        else:
            super().reply(request, answer)


class NotJson(Reference):
    """The answer to tokenize is not JSON."""

    def reply(self, request, answer):
        if request["cmd"] == "tokenize":
            self.write(str({"seq": request["seq"], **answer}))
        else:
            super().reply(request, answer)


class NotAnAnswer(Reference):
    """The answer to embed_ids is JSON, but none of the three kinds."""

    def answer(self, request):
        answer = super().answer(request)
        return {"value": 1} if request["cmd"] == "embed_ids" else answer


class WrongSeq(Reference):
    """The answer to embed_ids carries another request's number."""

    def reply(self, request, answer):
        wrong = request["seq"] + (request["cmd"] == "embed_ids")
        super().reply({"seq": wrong}, answer)


class AnswersTwice(Reference):
    """tokenize is answered twice, so that embed reads an old answer."""

    def reply(self, request, answer):
        super().reply(request, answer)
        if request["cmd"] == "tokenize":
            super().reply(request, answer)


class EmbedErrors(Reference):
    """embed is answered with an error."""

    def answer(self, request):
        if request["cmd"] == "embed":
            return {"errored": True, "kind": "invalid_text", "message": "repair it", "index": 0}
        return super().answer(request)


class SkipsEmbedIds(Reference):
    """The client says that it can embed ids, and does not."""

    def answer(self, request):
        if request["cmd"] == "embed_ids":
            return {"skipped": True, "reason": "takes texts only"}
        return super().answer(request)


class OnlyTexts(SkipsEmbedIds):
    """The client cannot embed ids, and says so."""

    def start(self, request):
        return super().start(request) | {"capabilities": ["tokenize", "embed", "self_check"]}


class OnlyTokenizes(Reference):
    """The client gives no vectors, so that there is nothing to verify."""

    def start(self, request):
        return super().start(request) | {"capabilities": ["tokenize"]}

    def answer(self, request):
        if request["cmd"] in ("embed_ids", "embed"):
            return {"skipped": True, "reason": "gives no vectors"}
        return super().answer(request)


class SelfCheckFails(Reference):
    """The client's self-check sees a difference beyond the limit, and reports it calmly."""

    def self_check(self, request):
        return 0.5


class SelfCheckNaN(Reference):
    """The client's self-check gives NaN, which is not JSON."""

    def self_check(self, request):
        return float("nan")


class SelfCheckText(Reference):
    """The client's self-check gives a text."""

    def self_check(self, request):
        return "fine"
