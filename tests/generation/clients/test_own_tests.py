"""The own tests of clients: they pass for every kind of model, and catch planted faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from generation.clients.conftest import KINDS, Pair, by_turns, in_all, only
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.generation import LANGUAGES, render_client
from support.clients.planted import Fault, read_faults
from support.clients.rendered import check_task, write
from support.clients.toolchain import WITHOUT_MODEL, Toolchain

FAULTS = [(one, fault) for one in LANGUAGES for fault in read_faults(one)]


def test_they_pass(toolchain: Toolchain, client: Path, every_feed: Path) -> None:
    """All of them, on a model that takes every feed."""
    toolchain.own_tests(client, every_feed, *toolchain.whole).check()


@by_turns(KINDS)
def test_of_vectors(toolchain: Toolchain, clients: dict[str, Pair], kind: str) -> None:
    """Padded on the left, with a default prompt, and quantized."""
    model, client = clients[kind]
    toolchain.own_tests(client, model, *toolchain.of_vectors).check()


@in_all("every_feed_hostile", "every_feed_beside")
def test_in_all_languages(toolchain: Toolchain, clients: dict[str, Pair], kind: str) -> None:
    """Hostile prompts stay text, to the letter; weights may have a file of their own."""
    model, client = clients[kind]
    toolchain.own_tests(client, model, *toolchain.of_vectors).check()


def test_a_page_takes_no_weights_beside(every_feed_beside: Path) -> None:
    """They are above what a page holds, which is said before anything is written."""
    with pytest.raises(InputError, match="browser: its clients take no weights beside"):
        render_client(read_head(every_feed_beside).manifest, "browser")


@in_all("core")
def test_without_parts(toolchain: Toolchain, clients: dict[str, Pair], kind: str) -> None:
    """The core passes its own tests by itself."""
    model, client = clients[kind]
    assert not [path for path in client.rglob("*") if path.stem.lower() in ("bulk", "cuda")]
    toolchain.own_tests(client, model).check()


@by_turns(TASK_MODELS)
def test_each_task(toolchain: Toolchain, clients: dict[str, Pair], kind: str) -> None:
    """They pass, the README's example runs, and vectors and answers are reproduced."""
    model, client = clients[kind]
    toolchain.own_tests(client, model).check()
    toolchain.run_readme(client, model)
    check_task(model, client)


def test_they_need_a_model(toolchain: Toolchain, client: Path) -> None:
    """Without POLYBAKE_MODEL they fail and say what to set."""
    ran = toolchain.own_tests(client, None, *toolchain.of_vectors)
    assert ran.code != 0
    assert WITHOUT_MODEL in ran.printed


@pytest.mark.planted
@pytest.mark.parametrize(
    ("language", "fault"),
    only(*FAULTS),
    indirect=["language"],
    ids=lambda one: getattr(one, "id", None),
)
def test_they_catch(
    toolchain: Toolchain, fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client is built with the fault, and one of its own tests fails.

    Only the tests that are about it are run, where the fault names them. In Java the others may
    run a graph in a session that the fault let close, and the process ends.
    """
    model: Path = request.getfixturevalue(fault.model)
    client = write(toolchain.language, tmp_path / "client", model, name="planted")
    fault.plant(client)
    toolchain.build(client, strict=False)
    toolchain.own_tests(client, model, *([fault.tests] if fault.tests else [])).check_caught()


@pytest.mark.planted
@pytest.mark.parametrize("name", LANGUAGES)
def test_each_fault_has_its_place(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The text that a fault replaces stands once in the client, which often changes."""
    for number, fault in enumerate(read_faults(name)):
        model: Path = request.getfixturevalue(fault.model)
        fault.plant(write(name, tmp_path / str(number), model))
