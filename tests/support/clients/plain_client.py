"""A client that answers with polybake's own Embedder, right or wrong, without any preparation."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]


def write_plain_client(folder: Path, fault: str = "none", language: str = "plain") -> Path:
    """The folder of such a client, whose fault is one of those in `main`."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    harness = {
        "language": language,
        "run": ["{python}", "-m", "support.clients.plain_client", fault, language],
        "environment": {"PYTHONPATH": path},
    }
    folder.mkdir(parents=True)
    (folder / "harness.json").write_text(json.dumps(harness))
    return folder


def main(fault: str, language: str) -> None:
    """Answer until told to stop."""
    from polybake.runtime.embedder import Embedder

    embedder, calls = None, 0
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, object] = {"results": None}
        if request["cmd"] == "start" and fault == "other-contract":
            message = "contract.max_length is 16, this client is for 8; generate it again"
            answer = {"errored": True, "kind": "wrong_model", "message": message}
        elif request["cmd"] == "start":
            embedder = Embedder(request["model"])
            answer = {"results": started(embedder, language)}
        elif request["cmd"] == "embed":
            calls += 1
            if fault == "crash-later" and calls > 1:
                sys.exit("error: out of memory")
            vectors = embedder.embed(request["texts"]).copy()
            if fault == "one-element":
                vectors[-1, 0] += 2
            data = base64.b64encode(vectors.tobytes()).decode()
            results = {"dtype": vectors.dtype.name, "shape": vectors.shape, "data": data}
            answer = {"results": results}
        print(json.dumps({"seq": request["seq"], **answer}), flush=True)  # noqa: T201 - the protocol
        if request["cmd"] == "stop":
            return


def started(embedder: object, language: str) -> dict[str, object]:
    """The answer to start."""
    versions = ("language_version", "runtime_version", "tokenizer_version")
    provider = {"requested": "cpu", "active": "CPUExecutionProvider", "proven_by": "session"}
    return {
        "protocol": 1,
        "client": {"language": language, **dict.fromkeys(versions, "1")},
        "name": embedder.manifest.name,
        "fingerprint": embedder.manifest.fingerprint,
        "provider": provider,
        "capabilities": ["embed"],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
