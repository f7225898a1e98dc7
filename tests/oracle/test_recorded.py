"""Every folder of the oracle, made again and baked, beside what its library gave.

It needs no PyTorch: `support.oracle.record` says how the record is made.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.modelfile.tolerance import LIMIT
from support.oracle.agreement import agreement, bake
from support.oracle.record import RECORD, cases_of, entries, make, names

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / RECORD


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param(
            path,
            name,
            id=name.removeprefix("tests/oracle/test_"),
            marks=pytest.mark.xdist_group(name),  # each is for whichever worker is free
        )
        for path, name in names(sorted(FOLDER.glob("*.json.xz")))
    ],
)
def test_bakes_to_what_its_library_gave(path: Path, name: str, tmp_path: Path) -> None:
    """Ids, types and answers are equal, and no element exceeds the limit."""
    entry = entries(path)[name]
    baking = make(entry, tmp_path / "model")
    out = bake(baking.source, tmp_path / "tiny.onnx", folder=baking.folder, **baking.settings)
    assert agreement(out, cases_of(entry)).difference <= LIMIT
