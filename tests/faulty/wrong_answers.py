# ruff: noqa: ARG002 - a fault keeps the signature of what it takes the place of
"""Harnesses that break the protocol, open another model, or answer with an error or a skip."""

from __future__ import annotations

import json
import sys
from typing import Any

from faulty.reference import CAPABILITIES, Reference


def answering(answers: dict[str, dict[str, Any]], **start: object) -> type[Reference]:
    """A client that answers some commands in another way, and start with other fields."""

    class Answering(Reference):
        def start(self, request):
            return super().start(request) | start

        def answer(self, request):
            return answers.get(request["cmd"]) or super().answer(request)

    return Answering


def skipped(reason: str) -> dict[str, object]:
    return {"skipped": True, "reason": reason}


def running_on(provider: str) -> type[Reference]:
    """A client whose model runs there, whatever was asked for."""

    class RunningOn(Reference):
        def provider(self, device):
            return super().provider(device) | {"active": provider}

    return RunningOn


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


class WrongLanguage(Reference):
    """The harness was copied from another client."""

    def __init__(self, answers, language):
        super().__init__(answers, language + "-copy")


class NoDevice(Reference):
    """There is no such device."""

    def answer(self, request):
        return {"errored": True, "kind": "device", "message": "no CUDA here; install a driver"}


class TakesAnyPrompt(Reference):
    """A prompt that the model does not have is taken for none."""

    def answer(self, request):
        known = request.get("prompt") != "no such prompt"
        return super().answer(request if known else request | {"prompt": None})


class LosesTheIndex(Reference):
    """The error of a text that is not valid Unicode does not say which one."""

    def reply(self, request, answer):
        super().reply(request, {key: answer[key] for key in answer if key != "index"})


class EndsOnNoTexts(Reference):
    """A list without texts ends the process."""

    def embed(self, request):
        return super().embed(request) if request["texts"] else sys.exit(5)


TEXTS_ONLY = {"embed_ids": skipped("takes texts only")}

FAULTS: dict[str, type[Reference]] = {
    "PrintsGarbage": PrintsGarbage,
    "ByteOrderMark": ByteOrderMark,
    "NotAscii": NotAscii,
    "NotJson": NotJson,
    "NotAnAnswer": answering({"embed_ids": {"value": 1}}),
    "WrongSeq": WrongSeq,
    "AnswersTwice": AnswersTwice,
    "EmbedErrors": answering(
        {"embed": {"errored": True, "kind": "invalid_text", "message": "repair it", "index": 0}}
    ),
    "SkipsEmbedIds": answering(TEXTS_ONLY),  # and says that it can
    "OnlyTexts": answering(TEXTS_ONLY, capabilities=["tokenize", "embed", "self_check"]),
    "OnlyTokenizes": answering(
        dict.fromkeys(("embed_ids", "embed"), skipped("gives no vectors")),
        capabilities=["tokenize"],
    ),
    "HasNoStream": answering(
        {"stream": skipped("unknown command stream")},
        capabilities=[one for one in CAPABILITIES if one != "stream"],
    ),
    "SelfCheckFails": answering({"self_check": {"results": 0.5}}),
    "SelfCheckNaN": answering({"self_check": {"results": float("nan")}}),
    "SelfCheckText": answering({"self_check": {"results": "fine"}}),
    "TakesAnyPrompt": TakesAnyPrompt,
    "LosesTheIndex": LosesTheIndex,
    "EndsOnNoTexts": EndsOnNoTexts,
    "WrongFingerprint": answering({}, fingerprint="0" * 64),
    "WrongName": answering({}, name="other-model"),
    "WrongLanguage": WrongLanguage,
    "WrongProtocol": answering({}, protocol=2),
    "FallsBack": running_on("CPUExecutionProvider"),
    "ClaimsCuda": running_on("CUDAExecutionProvider"),
    "NoDevice": NoDevice,
}
