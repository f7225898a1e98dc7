"""A local Spark cluster of two executors, each a process of its own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable  # else executors take the first python3 on PATH


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with batches of 16 rows, so that a partition has several."""
    if not shutil.which("java"):
        pytest.skip("Java is missing, which Spark needs")
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
        "spark.driver.host": "localhost",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("polybake")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # executors are killed here
    yield session
    session.stop()
