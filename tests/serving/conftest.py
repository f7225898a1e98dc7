"""A service of models of several tasks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from models.files.task_models import TASK_MODELS
from polybake.runtime.embedder import Embedder
from support.servers.service import serving

TASKS = ("classify", "multi-vector", "rerank", "sparse")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def embedders(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Embedder]:
    """The models by their task; the one that embeds is called every-feed."""
    folder = tmp_path_factory.mktemp("models")
    paths = {task: TASK_MODELS[task](folder / f"tiny-{task}.onnx") for task in TASKS}
    return {task: Embedder(path) for task, path in (paths | {"embed": every_feed}).items()}


@pytest.fixture(scope="session")
def client(embedders: dict[str, Embedder]) -> Iterator[TestClient]:
    with serving(*(embedder.path for embedder in embedders.values())) as client:
        yield client
