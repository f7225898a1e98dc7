"""Reports of other tools' users, rebuilt by tools/reported.py: each cause is named first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polybake
from polybake.runtime.prompt import Prompt
from polybake.study.diagnose.diagnose import diagnose

FOLDER = Path(__file__).parents[3] / "fixtures" / "reported"
REPORTS = json.loads((FOLDER / "reports.json").read_text("utf-8"))["reports"]
LINES = (FOLDER / "texts.jsonl").read_text("utf-8").splitlines()
TEXTS = [json.loads(line)["text"] for line in LINES]

#: Reports that take only a second, as a cheap try explains them.
FAST = {"ollama-order", "mlx-mean"}


def marked(report: dict[str, Any]) -> Any:
    """A report as a parameter; most have a session of their own."""
    marks = [pytest.mark.minilm] if report["model"] == "minilm" else []
    if report["name"] not in FAST:
        marks.append(pytest.mark.reported)
    return pytest.param(report, id=report["name"], marks=marks)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tiny models of the reports, as model files."""
    folder = tmp_path_factory.mktemp("reported")
    found = {}
    for name in sorted({one["model"] for one in REPORTS} - {"minilm"}):
        found[name] = folder / f"{name}.onnx"
        polybake.bake(FOLDER / name, found[name], name=name)
    return found


@pytest.mark.parametrize("report", [marked(one) for one in REPORTS])
def test_the_cause_is_named_first(report: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """The reported cause comes first; where polybake does not know it, nothing is guessed."""
    if report["model"] == "minilm":
        model = request.getfixturevalue("baked_minilm")
    else:
        model = request.getfixturevalue("models")[report["model"]]
    theirs = np.load(FOLDER / f"{report['name']}.npy")
    found = diagnose(model, TEXTS, theirs, Prompt(role=report.get("role")))
    names = [one.name for one in found.found[:3]]
    if report["name"] == "ollama-order":
        assert (found.verdict, found.moved > 0, names) == ("explained", True, [])
        return
    verdicts = ["unexplained", "explained in part", "explained"]
    most = report.get("part", 2 * bool(report["explained_by"]))
    # Every layer rounds to int8, and another processor may round some elements the other way.
    least = 1 if "dynamic int8" in " ".join(report["explained_by"]) else most
    assert least <= verdicts.index(found.verdict) <= most, names
    assert all(cause in names[0] for cause in report["explained_by"]), names
