"""Folders of the oracle, made again and baked, beside what its library gave.

It needs no PyTorch: `support.oracle.record` says how the record is made.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from polybake.base.modelfile.tolerance import LIMIT
from support.oracle.agreement import agreement, bake
from support.oracle.record import RECORD, cases_of, entries, make, names

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / RECORD


def _cases() -> list[Any]:
    """The first entry of each test, and of each word for a kind; the session oracle has all."""
    known: set[str] = set()
    cases = []
    for path, name in names(sorted(FOLDER.glob("*.json.xz"))):
        test, _, parameters = name.partition("[")
        told = {test, *re.findall(r"[^\W\d]{2,}[23]?", parameters)}
        if not told <= known:
            group = pytest.mark.xdist_group(name)  # each is for whichever worker is free
            short = name.removeprefix("tests/oracle/test_")
            cases.append(pytest.param(path, name, id=short, marks=group))
        known |= told
    return cases


@pytest.mark.parametrize(("path", "name"), _cases())
def test_bakes_to_what_its_library_gave(path: Path, name: str, tmp_path: Path) -> None:
    """Ids, types and answers are equal, and no element exceeds the limit."""
    entry = entries(path)[name]
    baking = make(entry, tmp_path / "model")
    out = bake(baking.source, tmp_path / "tiny.onnx", folder=baking.folder, **baking.settings)
    assert agreement(out, cases_of(entry)).difference <= LIMIT
