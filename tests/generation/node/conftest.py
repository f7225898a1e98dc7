"""The Node client, made runnable once."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clients.rendered import prepare, write


@pytest.fixture(scope="session")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The client of the model that takes every feed, made runnable as its harness.json says."""
    folder = prepare(write("node", tmp_path_factory.mktemp("client"), every_feed))
    yield folder
    shutil.rmtree(folder / "node_modules")
