"""What the tests of all languages share: a language's toolchain, and its clients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from models.files.task_models import TASK_MODELS
from polybake.generation import LANGUAGES
from support.clients.rendered import HEADS, parts_of, write, write_heads_client
from support.clients.toolchain import Toolchain

#: Models whose clients differ in more than a name, by the fixture that writes them.
KINDS = ("left", "default", "int8", "bits", "hostile")

#: A model and its client.
Pair = tuple[Path, Path]


def only(*rows: str | tuple[Any, ...]) -> list[ParameterSet]:
    """Languages, or rows that begin with one, as parameters that have the language's mark."""
    tuples = [(row,) if isinstance(row, str) else row for row in rows]
    return [pytest.param(*row, marks=getattr(pytest.mark, row[0])) for row in tuples]


def alone(language: str) -> list[pytest.MarkDecorator]:
    """The marks of a module that is about one language."""
    parametrize = pytest.mark.parametrize("language", only(language), indirect=True)
    return [pytest.mark.usefixtures("language"), parametrize]


@pytest.fixture(scope="session", params=only(*LANGUAGES))
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def toolchain(language: str, toolchain_of: Callable[[str], Toolchain]) -> Toolchain:
    return toolchain_of(language)


@pytest.fixture(scope="session")
def client(toolchain: Toolchain, every_feed: Path) -> Path:
    """The client of the model that takes every feed, with all its parts; no test changes it."""

    def render(folder: Path) -> None:
        write(toolchain.language, folder / "client", every_feed)

    return toolchain.prepare(render) / "client"


@pytest.fixture(scope="session")
def models(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A model file of each kind and of each task."""
    folder = tmp_path_factory.mktemp("a model")
    names = ["every_feed_beside", *(f"every_feed_{kind}" for kind in KINDS)]
    tasks = {task: make(folder / f"tiny-{task}.onnx") for task, make in TASK_MODELS.items()}
    return {name: request.getfixturevalue(name) for name in names} | tasks


@pytest.fixture(scope="session")
def clients(toolchain: Toolchain, models: dict[str, Path], every_feed: Path) -> dict[str, Pair]:
    """The clients of all kinds and tasks, a core alone, and those of fixtures/heads, built."""
    language = toolchain.language
    made = {kind: path for kind, path in models.items() if can_have(language, kind)}
    of_heads = ["heads"]
    if can_have(language, "every_feed_beside"):
        of_heads.append("heads_beside")

    def render(folder: Path) -> None:
        for kind, path in made.items():
            write(language, folder / kind, path, name=f"of-{kind.replace('_', '-')}")
        if parts_of(language):
            write(language, folder / "core", every_feed, name="core-alone", parts=())
        for kind in of_heads:
            write_heads_client(language, folder / kind, beside=kind != "heads")

    folder = toolchain.prepare(render)
    made |= {"core": every_feed} if parts_of(language) else {}
    return {kind: (path, folder / kind) for kind, path in made.items()} | {
        kind: (HEADS, folder / kind) for kind in of_heads
    }


def can_have(language: str, kind: str) -> bool:
    """A page takes no weights beside the graph."""
    return language != "browser" or "beside" not in kind
