"""The programs of docs/bulk.md work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="Spark is missing: run nox -s bulk")

from support.bulk.bulk_page import programs, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("code", programs("polybake.spark"))
def test_a_program_of_the_page_runs(
    code: str, spark: SparkSession, every_feed: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each program runs in an existing session, as in a notebook, with its folder replaced."""
    # Executors that start later need the file, too, so its folder stays for the session.
    run(code, every_feed, tmp_path_factory.mktemp("page"), spark=spark)
