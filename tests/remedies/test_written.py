"""What the files in the folder ``cases`` say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remedies.followed import MEAN, bake, refused
from remedies.models import WITH_STEPS, WITHOUT_STEPS
from remedies.written import Case, cases, done

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("case", [*cases()], ids=str)
def test_a_remedy_is_followed(case: Case, tmp_path: Path) -> None:
    """The model is refused; with each way that the remedy names, it bakes."""
    source, settings = _wrong(case, tmp_path / "refused")
    with refused(case.name, case.message):
        bake(source, **settings)
    for place, right in enumerate(case.rights):
        source, _ = _wrong(case, tmp_path / str(place))
        bake(source, **_with_steps(case, done(right, tmp_path / str(place) / "model")))


def _wrong(case: Case, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Write the model with its wrong files; return it with the wrong settings."""
    folder.mkdir()
    source = (WITH_STEPS | WITHOUT_STEPS)[case.model](folder / "model")
    return source, _with_steps(case, done(case.wrong, folder / "model"))


def _with_steps(case: Case, settings: dict[str, Any]) -> dict[str, Any]:
    return {"steps": MEAN} | settings if case.model in WITHOUT_STEPS else settings
