"""What the judge's tests share."""

from __future__ import annotations

import pytest

from faulty.subject import SubjectFiles, write_subject


@pytest.fixture(scope="session")
def subject(tmp_path_factory: pytest.TempPathFactory) -> SubjectFiles:
    """A small model file with a fixture; its folder has a space in its name."""
    return write_subject(tmp_path_factory.mktemp("model folder"))
