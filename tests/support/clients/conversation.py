"""What a harness is asked and what it answers, for the tests of each language."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polybake.verification.harness.harness_file import read_client
from support.clients.rendered import RETURNS_MEMORY

Message = Mapping[str, Any]


def start(model: Path, device: str = "cpu") -> Message:
    """The request that opens a model."""
    return {"cmd": "start", "protocol": 1, "model": str(model), "device": device}


#: The request of a user who embeds.
EMBED: Message = {"cmd": "embed", "texts": ["a", "b c"], "prompt": None}

STOP: Message = {"cmd": "stop"}


def lines(requests: Sequence[Message]) -> str:
    """The requests as a harness reads them, numbered from 0."""
    return "".join(json.dumps({"seq": i, **one}) + "\n" for i, one in enumerate(requests))


def ask(client: Path, *requests: Message, **environment: str) -> list[Any]:
    """What the harness of a prepared client answers, a line of ASCII each."""
    settings = read_client(client)
    done = subprocess.run(
        settings.run,
        input=lines(requests),
        cwd=client,
        env=os.environ | settings.environment | environment,
        capture_output=True,
        encoding="ascii",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_protocol(client: Path, model: Path, language: str, **environment: str) -> list[Any]:
    """One answer a request, each of its kind, also of a text that readers of JSON refuse or mend.

    Returns:
        The answers to a start with CUDA and to one with the CPU.
    """
    cuda, started, tokens, invalid, vectors, unknown, skipped, again, checked, stopped = ask(
        client,
        start(model, "cuda"),
        start(model),
        {"cmd": "tokenize", "texts": ["a", '\U0001f469 \\ud800 \0"/'], "prompt": None},
        {"cmd": "embed", "texts": ["a", "b \ud800"], "prompt": None},
        {"cmd": "embed_ids", "input_ids": [[2, 3], []], "prompt": "query"},
        {"cmd": "embed", "texts": ["a"], "prompt": "é"},
        {"cmd": "dance"},
        start(model),
        {"cmd": "self_check"},
        STOP,
        LC_ALL="C",
        **environment,
    )
    assert cuda["kind"] == "device"
    assert started["results"]["provider"]["active"] == "CPUExecutionProvider"
    assert started["results"]["client"]["language"] == language
    assert len(tokens["results"]) == 2
    if language == "rust":
        assert invalid["skipped"]  # its strings are always valid
    else:
        assert (invalid["kind"], invalid["index"]) == ("invalid_text", 1)
    assert vectors["results"]["shape"] == [2, 7]
    assert unknown["kind"] == "unknown_prompt"
    assert unknown["message"] == 'unknown prompt "é"; choose one of: query, document'
    assert skipped["skipped"]
    assert again["results"] == started["results"]
    assert 0 <= checked["results"] < 1e-5
    assert stopped == {"seq": 9, "results": None}
    return [cuda, started]


def resident(client: Path, model: Path, turns: int, **environment: str) -> list[int]:
    """The kilobytes that a harness takes after each of so many times that it opens and embeds.

    Args:
        client: A prepared client.
        model: Its model; each start closes what the one before it opened.
        turns: How often.
        environment: What the harness gets besides.
    """
    settings, found = read_client(client), []
    with subprocess.Popen(
        settings.run,
        cwd=client,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | settings.environment | RETURNS_MEMORY | environment,
    ) as harness:
        assert harness.stdin
        assert harness.stdout
        for _ in range(turns):
            harness.stdin.write(lines([start(model), EMBED]))
            harness.stdin.flush()
            assert ["results" in harness.stdout.readline() for _ in range(2)] == [True, True]
            status = Path(f"/proc/{harness.pid}/status").read_text(encoding="ascii")
            found.append(int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]))
        harness.stdin.close()
    return found
