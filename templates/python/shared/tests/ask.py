"""Ask the harness."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HARNESS = Path(__file__).parents[1] / "harness" / "harness.py"


def ask(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to requests, and then to stop."""
    lines = [json.dumps({"seq": seq} | request) for seq, request in enumerate(requests)]
    done = subprocess.run(
        [sys.executable, HARNESS],
        input="\n".join([*lines, '{"seq": -1, "cmd": "stop"}']),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers.pop() == {"seq": -1, "results": None}
    return answers


def start(model: Path) -> dict[str, Any]:
    return {"cmd": "start", "protocol": 1, "model": str(model), "device": "cpu"}


def encoded(vectors: NDArray[np.generic]) -> dict[str, Any]:
    data = base64.b64encode(vectors.tobytes()).decode("ascii")
    return {"dtype": vectors.dtype.name, "shape": list(vectors.shape), "data": data}
