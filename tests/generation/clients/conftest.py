"""What the tests of all languages share: a language's toolchain, and its clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from models.files.task_models import TASK_MODELS
from polybake.generation import LANGUAGES
from support.clients.once import digest, once
from support.clients.rendered import parts_of, write
from support.clients.toolchain import Toolchain

#: Models whose clients differ in more than a name: fixtures of these names.
KINDS = ("every_feed_left", "every_feed_default", "every_feed_int8", "every_feed_bits")

#: A model and its client.
Pair = tuple[Path, Path]


def can_have(language: str, kind: str) -> bool:
    """A page takes no weights beside the graph, and some languages have no parts to leave out."""
    if kind == "core":
        return bool(parts_of(language))
    return language != "browser" or "beside" not in kind


def only(*rows: str | tuple[Any, ...]) -> list[ParameterSet]:
    """Languages, or rows that begin with one, as parameters that have the language's mark."""
    tuples = [(row,) if isinstance(row, str) else row for row in rows]
    return [pytest.param(*row, marks=getattr(pytest.mark, row[0])) for row in tuples]


def alone(language: str) -> list[pytest.MarkDecorator]:
    """The marks of a module that is about one language."""
    parametrize = pytest.mark.parametrize("language", only(language), indirect=True)
    return [pytest.mark.usefixtures("language"), parametrize]


def in_all(*kinds: str) -> pytest.MarkDecorator:
    """Each kind of client in all languages that can have it."""
    rows = [(one, kind) for one in LANGUAGES for kind in kinds if can_have(one, kind)]
    return pytest.mark.parametrize(("language", "kind"), only(*rows), indirect=["language"])


def by_turns(kinds: Iterable[str]) -> pytest.MarkDecorator:
    """The same, where two or three languages beside Python, by turns, are enough for a change."""
    rows = []
    for place, kind in enumerate(kinds):
        for number, language in enumerate(LANGUAGES):
            (row,) = only((language, kind))
            weekly = number > 0 and (place + number) % 3
            marks = [*row.marks, *([pytest.mark.weekly] if weekly else [])]
            rows.append(pytest.param(*row.values, marks=marks))
    return pytest.mark.parametrize(("language", "kind"), rows, indirect=["language"])


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
def models(request: pytest.FixtureRequest, once_folder: Path, repository: Path) -> dict[str, Path]:
    """A model file of each kind and of each task; the latter are baked once a run."""

    def bake(folder: Path) -> None:
        for task, make in TASK_MODELS.items():
            make(folder / f"tiny-{task}.onnx")

    sources = digest(repository / "python", repository / "tests/models")
    folder = once(once_folder, bake, "models", sources)
    names = ("every_feed_hostile", "every_feed_beside", *KINDS)
    made = {name: request.getfixturevalue(name) for name in names}
    made |= {task: folder / f"tiny-{task}.onnx" for task in TASK_MODELS}
    return made | {"core": request.getfixturevalue("every_feed")}


@pytest.fixture(scope="session")
def clients(
    toolchain: Toolchain, models: dict[str, Path], request: pytest.FixtureRequest
) -> dict[str, Pair]:
    """The clients of the kinds and tasks that chosen tests are about, built together."""
    language = toolchain.language
    chosen = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    kinds = {one["kind"] for one in chosen if one.get("language") == language and "kind" in one}
    kinds |= {"every_feed_bits", "tag"}  # what a test of one language or of the linter needs

    def render(folder: Path) -> None:
        for kind in sorted(kinds):
            parts = () if kind == "core" else parts_of(language)
            name = f"of-{kind.replace('_', '-')}"
            write(language, folder / kind, models[kind], name=name, parts=parts)

    folder = toolchain.prepare(render)
    return {kind: (models[kind], folder / kind) for kind in kinds}
