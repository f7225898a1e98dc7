"""The C# client, built once for all of its tests."""

from pathlib import Path

import pytest

from support.clients.dotnet import STRICT, dotnet
from support.clients.rendered import prepare, write


@pytest.fixture(scope="session")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, built."""
    folder = write("csharp", tmp_path_factory.mktemp("client"), every_feed)
    dotnet("build", "tests", STRICT, cwd=folder)
    return prepare(folder)
