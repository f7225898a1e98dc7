"""What the files in the folder ``cases`` say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remedies.followed import MEAN, bake, refused
from remedies.models import WITH_STEPS, WITHOUT_STEPS
from remedies.written import Case, cases, done

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=[pytest.mark.oracle] if case.oracle else [])
        for case in cases()
    ],
)
def test_a_remedy_is_followed(case: Case, tmp_path: Path) -> None:
    """The model is refused; with each way that the remedy names, it bakes."""
    source, settings = _written(case, tmp_path / "refused", case.wrong)
    with refused(case.name, case.message):
        bake(source, **settings)
    for place, right in enumerate(case.rights):
        source, settings = _written(case, tmp_path / str(place), case.wrong, right)
        bake(source, **settings)


def _written(case: Case, folder: Path, *lines: str) -> tuple[Path, dict[str, Any]]:
    """Write the model, and change its files; return what is baked, and the last settings."""
    folder.mkdir()
    source = (WITH_STEPS | WITHOUT_STEPS)[case.model](folder / "model")
    *_, settings = [done(line, folder / "model") for line in lines]
    steps = {"steps": MEAN} if case.model in WITHOUT_STEPS else {}
    return folder / settings.pop("source", source), steps | settings
