"""The programs of docs/bulk.md work."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray.data", reason="Ray is missing: run nox -s bulk")

from support.bulk.bulk_page import programs, run

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("code", programs("polybake.ray"))
def test_a_program_of_the_page_runs(code: str, every_feed: Path, tmp_path: Path) -> None:
    """Each program runs as printed, except that its folder is replaced."""
    run(code, every_feed, tmp_path)
