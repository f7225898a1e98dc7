"""The Rust client, its harness built."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.cargo import prepare
from support.clients.rendered import write


@pytest.fixture(scope="session")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, its harness built."""
    return prepare(write("rust", tmp_path_factory.mktemp("client"), every_feed))
