"""A harness that does everything right, answering from a fixture; the base of the faulty ones.

It uses the standard library alone, so that it starts at once.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import sys

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}

CAPABILITIES = ("tokenize", "embed_ids", "embed", "stream", "self_check", "arguments")

#: Of the model's contract.
VOCAB_SIZE, MAX_LENGTH = 1000, 16

Vectors = list[list[float]]

#: What struct calls a number of each dtype.
FORMATS = {"float32": "f", "int8": "b", "uint8": "B"}


class Reference:
    """Answers each request with the fixture's own golden answer."""

    def __init__(self, answers: dict, language: str) -> None:
        self.name = answers["name"]
        self.fingerprint = answers["fingerprint"]
        self.language = language
        self.ids: dict[tuple, list[int]] = {}
        self.vector: dict[tuple, list[float]] = {}
        for case in answers["fixture"]["cases"]:
            self.dtype = case["embeddings"]["dtype"]
            self.dimension = case["embeddings"]["shape"][1]
            rows = decode(case["embeddings"])
            for text, ids, row in zip(case["texts"], case["input_ids"], rows, strict=True):
                self.ids[case["prompt"], text] = ids
                self.vector[case["prompt"], tuple(ids)] = row
        # What a native library prints must not reach the stream.
        self.out = os.fdopen(os.dup(1), "w", encoding="ascii")
        os.dup2(2, 1)

    def serve(self) -> None:
        """Answer every line of standard input."""
        for line in sys.stdin:
            request = json.loads(line)
            self.reply(request, self.answer(request))
            if request["cmd"] == "stop":
                break

    def reply(self, request: dict, answer: dict) -> None:
        """Write one answer."""
        self.write(json.dumps({"seq": request["seq"], **answer}))

    def write(self, line: str) -> None:
        """Write one line to the stream."""
        self.out.write(line + "\n")
        self.out.flush()

    def answer(self, request: dict) -> dict:
        """The answer to one request, without its seq."""
        return refused(request) or {"results": getattr(self, request["cmd"])(request)}

    def start(self, request: dict) -> dict:
        """The answer to start: who answers."""
        return {
            "protocol": 1,
            "client": {
                "language": self.language,
                "language_version": "1.2.3",
                "runtime_version": "4.5.6",
                "tokenizer_version": "7.8.9",
            },
            "name": self.name,
            "fingerprint": self.fingerprint,
            "provider": self.provider(request["device"]),
            "capabilities": [*CAPABILITIES],
        }

    def provider(self, device: str) -> dict:
        """What runs the model."""
        return {"requested": device, "active": PROVIDERS[device], "proven_by": "session"}

    def tokenize(self, request: dict) -> list[list[int]]:
        """The golden token ids."""
        return [self.ids[request["prompt"], text] for text in request["texts"]]

    def embed_ids(self, request: dict) -> dict:
        """The golden vectors of the ids."""
        return self.encode(self.vectors(request["input_ids"], request["prompt"]))

    def embed(self, request: dict) -> dict:
        """The golden vectors of the texts."""
        ids = Reference.tokenize(self, request)
        return self.encode(self.vectors(ids, request["prompt"]))

    def stream(self, request: dict) -> dict:
        """The golden vectors, as for a list."""
        ids = Reference.tokenize(self, request)
        return self.encode(self.vectors(ids, request["prompt"]))

    def vectors(self, rows: list[list[int]], prompt: str | None) -> Vectors:
        """The golden vectors."""
        return [list(self.vector[prompt, tuple(ids)]) for ids in rows]

    def encode(self, vectors: Vectors) -> dict:
        """Vectors as the protocol carries them."""
        flat = [element for row in vectors for element in row]
        packed = struct.pack(f"<{len(flat)}{FORMATS[self.dtype]}", *flat)
        data = base64.b64encode(packed).decode("ascii")
        return {
            "dtype": self.dtype,
            "shape": [len(vectors), len(vectors[0]) if vectors else self.dimension],
            "data": data,
        }

    def self_check(self, request: dict) -> float:  # noqa: ARG002 - a stage's signature
        """The answer to self_check: no difference."""
        return 0.0

    def stop(self, request: dict) -> None:
        """The answer to stop, which is empty."""


def refused(request: dict) -> dict | None:
    """The error of wrong arguments, if they are wrong."""
    texts, rows = request.get("texts", []), request.get("input_ids", [])
    if request.get("prompt") not in (None, "query"):
        return {"errored": True, "kind": "unknown_prompt", "message": "no such prompt"}
    known = all(0 <= token < VOCAB_SIZE for row in rows for token in row)
    listed = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    if not (known and listed and all(len(row) <= MAX_LENGTH for row in rows)):
        return {"errored": True, "kind": "argument", "message": "expected texts, or rows of ids"}
    for place, text in enumerate(texts):
        if "\ud800" in text:
            return {"errored": True, "kind": "invalid_text", "message": "repair it", "index": place}
    return None


def decode(vectors: dict) -> Vectors:
    """The rows of encoded vectors."""
    rows, dimension = vectors["shape"]
    kind = FORMATS[vectors["dtype"]]
    flat = struct.unpack(f"<{rows * dimension}{kind}", base64.b64decode(vectors["data"]))
    return [list(flat[row * dimension : (row + 1) * dimension]) for row in range(rows)]
