"""The Ruby client, and the gems that its tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.rendered import run, write


@pytest.fixture(scope="session")
def gems(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for gems that the bundles of all tests share."""
    return str(tmp_path_factory.mktemp("gems"))


@pytest.fixture(scope="session")
def client(gems: str, every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Ruby client of the model that takes every feed, its gems installed."""
    folder = write("ruby", tmp_path_factory.mktemp("client"), every_feed)
    run("bundle", "install", "--quiet", cwd=folder, BUNDLE_PATH=gems)
    return folder
