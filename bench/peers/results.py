"""The numbers of a comparison's results, as compare.py writes them."""

from __future__ import annotations

import statistics
from typing import Any

#: One peer: its title, language and precision, and its ``seconds`` or why it was ``left_out``.
Row = dict[str, Any]

LANGUAGES = {
    "python": "Python",
    "node": "Node",
    "ruby": "Ruby",
    "csharp": "C#",
    "java": "Java",
    "go": "Go",
    "rust": "Rust",
    "browser": "Browser",
}


def timed(found: dict[str, Any]) -> list[Row]:
    """The rows that have times."""
    return [row for row in found["peers"] if not row.get("left_out")]


def left_out(found: dict[str, Any]) -> list[Row]:
    """The rows that have a reason instead."""
    return [row for row in found["peers"] if row.get("left_out")]


def ours(row: Row) -> bool:
    """Whether it is one of polybake's clients."""
    return str(row["title"]).startswith("polybake")


def median(row: Row, workload: str) -> float:
    """Median seconds of one call over the rounds."""
    return float(statistics.median(row["seconds"][workload]))


def spread(row: Row, workload: str) -> float:
    """Half the range of the rounds, as a share of their median."""
    seconds = row["seconds"][workload]
    return (max(seconds) - min(seconds)) / 2 / median(row, workload)


def rate(found: dict[str, Any], row: Row, workload: str) -> float:
    """Texts a second."""
    return float(found["texts"][workload] / median(row, workload))


def ratio(found: dict[str, Any], row: Row, workload: str) -> float:
    """How many times as fast as polybake's float32 file in Python, the first row."""
    return median(timed(found)[0], workload) / median(row, workload)
