"""Fixtures that the judge's tests share."""

from __future__ import annotations

import pytest

from faulty.subject import OUTPUTS, SubjectFiles, write_subject


@pytest.fixture(scope="session")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SubjectFiles]:
    """Small model files with fixtures, by precision; their folders have a space in their names."""
    return {
        precision: write_subject(tmp_path_factory.mktemp("model folder"), precision)
        for precision in OUTPUTS
    }


@pytest.fixture(scope="session")
def subject(subjects: dict[str, SubjectFiles]) -> SubjectFiles:
    """The model file of float32."""
    return subjects["float32"]
