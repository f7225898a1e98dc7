"""A comparison as data."""

from __future__ import annotations

import json
import math
from array import array
from pathlib import Path

from polybake.study.diff.facts import facts
from polybake.study.diff.module_change import ModuleChange
from polybake.study.diff.neighbours import Neighbours
from polybake.study.diff.parts import compare_parts
from polybake.study.diff.seen import Seen
from polybake.study.diff.verdict import DiffVerdict
from polybake.study.diff.weights import WeightChange
from polybake.verification.verdict import Stage


def test_it_is_json(every_feed: Path) -> None:
    """Infinity and NaN, which JSON lacks, become null."""
    parts = compare_parts(every_feed, every_feed)
    stages = [
        Seen(Stage.TOKENIZE),
        Seen(Stage.EMBED, largest=math.inf, texts=1, differing=1, distances=array("d", [0.5])),
    ]
    modules = [ModuleChange("a", 2, [WeightChange("w", "changed", largest=math.nan)])]
    neighbours = Neighbours(99, 0.5, 0.25, None, None, (0.5,) * 99)
    answer = DiffVerdict("Re-index", "yes", "Why.")
    found = facts(parts, modules, stages, neighbours, "cut", answer)
    found = json.loads(json.dumps(found, allow_nan=False))
    assert found["verdict"] == {
        "question": "Re-index",
        "answer": "yes",
        "reason": "Why.",
        "line": "Re-index: yes. Why.",
    }
    assert set(found["parts"].values()) == {True}
    assert (found["modules"][0]["equal"], found["modules"][0]["weights"][0]["largest"]) == (2, None)
    assert found["stages"][1]["largest"] is None
    assert found["stages"][1]["cosines"] == {"least": 0.5, "hundredth": 0.5, "median": 0.5}
    assert (found["neighbours"]["alone"], found["neighbours"]["old_index"]) == (0.5, None)
    assert "shares" not in found["neighbours"]
    assert found["shortened"] == "cut"
    assert found["before"]["fingerprint"] == parts.before.manifest.fingerprint
