"""What the files in the folder ``cases`` say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remedies.followed import MEAN, bake, refused
from remedies.models import WITH_STEPS, WITHOUT_STEPS
from remedies.written import Case, cases, done

pytestmark = pytest.mark.slow


#: A remedy of so many is followed at every change.
OFTEN = 10


def _each(often: int = 0) -> Iterator[Any]:
    """Every case; all but one of so many are weekly, if remedies are followed."""
    for place, case in enumerate(cases()):
        library = case.oracle and (often or "AGAIN" in case.wrong)
        marks = [pytest.mark.oracle] if library else []
        if often and place % often:
            marks.append(pytest.mark.weekly)
        yield pytest.param(case, id=str(case), marks=marks)


@pytest.mark.parametrize("case", [*_each()])
def test_a_model_is_refused(case: Case, tmp_path: Path) -> None:
    """With a message that says what is found, and what helps."""
    source, settings = _written(case, tmp_path / "refused", case.wrong)
    with refused(case.name, case.message):
        bake(source, **settings)


@pytest.mark.parametrize("case", [*_each(OFTEN)])
def test_a_remedy_is_followed(case: Case, tmp_path: Path) -> None:
    """With each way that the remedy names, the refused model bakes."""
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
