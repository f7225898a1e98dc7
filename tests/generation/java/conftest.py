"""Java clients that many tests share: one that Maven prepared, and one of each kind and task."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from support.clients.java import KINDS, Java, fetch, write_readme
from support.clients.rendered import prepare, write


@pytest.fixture(scope="session")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, prepared by Maven as its harness.json says."""
    return prepare(write("java", tmp_path_factory.mktemp("client"), every_feed))


@pytest.fixture(scope="session")
def java(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Java:
    """The packages of that client, beside which others are built."""
    return fetch(tmp_path_factory.mktemp("java"), client)


@pytest.fixture(scope="session")
def clients(
    java: Java, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, Path]]:
    """The model and the client of each kind and of each task, with no warning of the compiler."""
    folder = tmp_path_factory.mktemp("clients")
    models = {kind: request.getfixturevalue(f"every_feed_{kind}") for kind in KINDS}
    models |= {name: request.getfixturevalue(name) for name in ("every_feed", "every_feed_beside")}
    models |= {task: make(folder / f"tiny-{task}.onnx") for task, make in TASK_MODELS.items()}
    clients = {
        kind: write("java", folder / kind, model, name=f"of-{kind.replace('_', '-')}")
        for kind, model in models.items()
    }
    for kind, client in clients.items():
        write_readme(client, models[kind])
    java.build(*clients.values())
    return {kind: (model, clients[kind]) for kind, model in models.items()}
