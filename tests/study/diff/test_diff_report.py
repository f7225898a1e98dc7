"""A comparison in lines, as data and as a plot."""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from models.files.varied import write_varied
from polybake.study.diff.diff_report import (
    modules_lines,
    parts_lines,
    stages_lines,
)
from polybake.study.diff.facts import facts
from polybake.study.diff.module_change import ModuleChange
from polybake.study.diff.neighbours import Neighbours
from polybake.study.diff.parts import compare_parts
from polybake.study.diff.plot import write_plot
from polybake.study.diff.stage_result import StageResult
from polybake.study.diff.verdict import DiffVerdict
from polybake.study.diff.weights import WeightChange
from polybake.verification.verdict import Stage


def test_nothing_of_a_model_steers_the_terminal(every_feed: Path, tmp_path: Path) -> None:
    """Names and texts may hold any character."""
    varied = write_varied(every_feed, tmp_path / "b.onnx", steps=("\x1b[2J",))
    seen = StageResult(Stage.TOKENIZE, texts=1, differing=1, worst="\x1b[2J")
    modules = [ModuleChange("\x1b[2J", 0, [WeightChange("\x1b[2J", "gone")])]
    parts = parts_lines(compare_parts(every_feed, varied))
    assert all("\x1b" not in line for line in (*parts, *modules_lines(modules)))
    assert all("\x1b" not in line for line in stages_lines([seen]))


def test_modules() -> None:
    """Layers of one kind have a line, and the weight that differs most its figures."""
    layers = [
        ModuleChange(
            f"layer.{at}",
            3,
            [WeightChange(f"w{at}", "changed", largest=at / 4, cosine=1 - at / 8)],
            nodes_added=Counter(Add=2),
        )
        for at in range(3)
    ]
    (line,) = modules_lines(layers)
    assert line.endswith(
        "layer.0-2: 3 weights changed (most in w2, an element by 0.5, cosine 0.750000 at least); "
        "9 equal; operators added: 6 Add"
    )
    weights = [
        WeightChange("a", "retyped", "float32 [2]", "float16 [2]", None, 1e-9, 1 - 2e-12),
        WeightChange("c", "renamed", "float32 [2]", "float32 [2]", "d", 0.0),
    ]
    added, removed = Counter(Add=3), Counter(Add=2, Mul=1)
    change = ModuleChange("m", 0, weights, nodes_added=added, nodes_removed=removed)
    (line,) = modules_lines([change])
    for told in (
        "(most in a: float32 [2] -> float16 [2], an element by 1e-09, cosine 1 - 2e-12 at least)",
        "equal under another name (c -> d)",
        "operators changed: 2 Add; operators removed: 1 Mul; operators added: 1 Add",
    ):
        assert told in line


def test_a_long_list_ends_with_how_many_more() -> None:
    """A list of many different modules is cut, and says how many are left."""
    lines = list(
        modules_lines([ModuleChange(f"m{at}x", 1, [WeightChange("w", "gone")]) for at in range(20)])
    )
    assert len(lines) == 13
    assert lines[-1].strip() == "and 8 more, which --json lists"


@pytest.mark.parametrize(
    ("worst", "shown"), [("", "the empty text"), ("\t ", "white space alone"), ("a", '"a"')]
)
def test_a_text_that_shows_nothing_is_named(worst: str, shown: str) -> None:
    """A blank text is described in words, not by empty quotation marks."""
    seen = StageResult(Stage.EMBED, texts=1, differing=1, largest=0.5, worst=worst)
    assert [*stages_lines([seen])][-1].strip() == f"most: {shown}"


def test_stages() -> None:
    """Each difference is shown with its text, and those of vectors with figures."""
    ids = StageResult(Stage.TOKENIZE, texts=9, differing=1, worst=("one", "x" * 80))
    same = StageResult(Stage.EMBED_IDS, texts=9, largest=1e-7, distances=array("d", [0.0]))
    other = StageResult(
        Stage.EMBED, texts=9, differing=1, largest=0.5, distances=array("d", [0.9, *[1e-9] * 200])
    )
    bits = StageResult(
        Stage.EMBED, integers=True, packed_bits=True, texts=9, differing=1, largest=3
    )
    assert list(stages_lines([ids, same, other, bits])) == [
        "tokenize   1 of 9 texts have other token ids",
        f'           the first: "one | {"x" * 53}…"',
        "embed_ids  9 texts have the same vectors, an element by at most 1e-07",
        (
            "embed      1 of 9 texts have other vectors, an element by at most 0.5; cosine "
            "0.100000 at least, 1 - 1e-09 at 1 %, 1 - 1e-09 in the median"
        ),
        "embed      1 of 9 texts have other vectors, an element by at most 3 bits",
    ]


def test_it_is_json(every_feed: Path) -> None:
    """Infinity and NaN, which JSON lacks, become null."""
    parts = compare_parts(every_feed, every_feed)
    stages = [
        StageResult(Stage.TOKENIZE),
        StageResult(
            Stage.EMBED, largest=math.inf, texts=1, differing=1, distances=array("d", [0.5])
        ),
    ]
    modules = [ModuleChange("a", 2, [WeightChange("w", "changed", largest=math.nan)])]
    neighbours = Neighbours(99, 0.5, 0.25, None, None, (0.5,) * 99)
    answer = DiffVerdict("Re-index", "yes", "Why.")
    found = facts(parts, modules, stages, neighbours, "cut", answer)
    found = json.loads(json.dumps(found, allow_nan=False))
    assert found["verdict"]["line"] == "Re-index: yes. Why."
    assert (found["modules"][0]["equal"], found["modules"][0]["weights"][0]["largest"]) == (2, None)
    assert found["stages"][1]["largest"] is None
    assert found["stages"][1]["cosines"] == {"least": 0.5, "hundredth": 0.5, "median": 0.5}
    assert (found["neighbours"]["alone"], found["neighbours"]["old_index"]) == (0.5, None)


YES = DiffVerdict("Re-index", "yes", "Old <vectors> of $x$. " * 9)


def words(
    path: Path, model: Path, stages: list[StageResult], neighbours: Neighbours | None
) -> list[str | None]:
    """The texts of the plot."""
    pytest.importorskip("matplotlib", reason='pip install ".[plots]"')
    write_plot(path, compare_parts(model, model), stages, neighbours, YES)
    root = ElementTree.parse(path).getroot()  # noqa: S314 - of our own making
    return [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_plot_shows_distances_and_neighbours(every_feed: Path, tmp_path: Path) -> None:
    """Equal texts, opposite ones and the limit are in it; a long sentence goes on below."""
    distances = array("d", [0.0, -1e-16, 2e-4, 2e-4, 2e-4, 2.0])
    seen = StageResult(Stage.EMBED, texts=6, differing=4, distances=distances)
    neighbours = Neighbours(9, 0.9, 0.9, 0.9, 0.9, (0.0, 1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3))
    found = words(tmp_path / "a.svg", every_feed, [seen, seen, seen], neighbours)
    assert "limit 1e-06" in found
    assert "neighbours that each text keeps, old and new mixed" in found
    lines = [one for one in found if one and "Old <vectors>" in one]
    assert len(lines) > 1
    assert "Re-index: yes. Old <vectors> of $x$." in lines[0]


def test_the_plot_says_what_was_not_compared(every_feed: Path, tmp_path: Path) -> None:
    found = words(tmp_path / "a.svg", every_feed, [], None)
    assert {"none can be compared", "no texts were searched"} <= {*found}
