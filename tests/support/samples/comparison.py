"""A comparison of two peers in three rounds, and a third peer that was refused."""

from __future__ import annotations

from typing import Any


def _row(title: str, precision: str, cosine: float, rounds: list[float]) -> dict[str, Any]:
    return {
        "title": title,
        "language": "python",
        "precision": precision,
        "peak": 2048,
        "versions": {"onnxruntime": "1.31.1"},
        "cosine": {"short": cosine, "long": 1.0, "single": 1.0},
        "seconds": dict.fromkeys(("short", "long", "single"), rounds),
    }


FOUND: dict[str, Any] = {
    "machine": {"cpu": "Test CPU", "threads": 2},
    "measured": "2026-01-02",
    "texts": {"short": 1000, "long": 200, "single": 1},
    "rounds": 3,
    "others": 0.01,
    "peers": [
        _row("polybake", "float32", 1.0, [1.0, 6.0, 2.0]),
        _row("other", "int8", 0.97699, [1.0, 1.0, 1.0]),
        _row("refused", "float32", 0.7, []) | {"left_out": "refused: cosine 0.70000"},
    ],
}
