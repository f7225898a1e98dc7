"""A service within this process."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from polybake.runtime.embedder import Embedder
from polybake.serving.app import create_app
from polybake.serving.limits import Limits
from polybake.serving.models import Models
from polybake.serving.served_model import ServedModel


def service(
    *paths: Path,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    keys: Sequence[str] = (),
    matryoshka: bool = False,
) -> FastAPI:
    """An application that serves model files."""
    models = Models(
        [ServedModel(Embedder(path), most=limits.texts, matryoshka=matryoshka) for path in paths]
    )
    return create_app(models, limits=limits, keys=keys)


@contextmanager
def serving(*paths: Path, raise_errors: bool = True, **settings: Any) -> Iterator[TestClient]:
    """Clients of model files that are served; settings as `service` has them."""
    app = service(*paths, **settings)
    with TestClient(app, raise_server_exceptions=raise_errors) as client:
        yield client
