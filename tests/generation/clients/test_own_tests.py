"""The own tests of clients: they pass for every kind of model, and catch planted faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from generation.clients.conftest import KINDS, Pair, can_have, only
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.generation import LANGUAGES, render_client
from support.clients.planted import Fault, read_faults
from support.clients.rendered import check_task, parts_of, write
from support.clients.toolchain import WITHOUT_MODEL, Toolchain

#: The languages whose clients can have parts, or weights beside the graph.
OF_PARTS = only(*filter(parts_of, LANGUAGES))
OF_BESIDE = only(*(one for one in LANGUAGES if can_have(one, "beside")))
FAULTS = [(one, fault) for one in LANGUAGES for fault in read_faults(one)]


def test_they_pass(toolchain: Toolchain, client: Path, every_feed: Path) -> None:
    """All of them, on a model that takes every feed."""
    toolchain.own_tests(client, every_feed).check()


@pytest.mark.parametrize("kind", KINDS)
def test_of_vectors(toolchain: Toolchain, clients: dict[str, Pair], kind: str) -> None:
    """Padded on the left, with a default prompt, quantized, and with hostile prompts."""
    model, client = clients[f"every_feed_{kind}"]
    toolchain.own_tests(client, model, *toolchain.of_vectors).check()


@pytest.mark.parametrize("language", OF_BESIDE, indirect=True)
def test_weights_beside_the_graph(toolchain: Toolchain, clients: dict[str, Pair]) -> None:
    """The tests of files and of vectors pass where the weights have a file of their own."""
    model, client = clients["every_feed_beside"]
    toolchain.own_tests(client, model, *toolchain.of_files, *toolchain.of_vectors).check()


def test_a_page_takes_no_weights_beside(every_feed_beside: Path) -> None:
    """They are above what a page holds, which is said before anything is written."""
    with pytest.raises(InputError, match="browser: its clients take no weights beside"):
        render_client(read_head(every_feed_beside).manifest, "browser")


@pytest.mark.parametrize("language", OF_PARTS, indirect=True)
def test_without_parts(toolchain: Toolchain, clients: dict[str, Pair]) -> None:
    """The core passes its own tests by itself."""
    model, client = clients["core"]
    assert not [path for path in client.rglob("*") if path.stem.lower() in ("bulk", "cuda")]
    toolchain.own_tests(client, model).check()


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task(toolchain: Toolchain, clients: dict[str, Pair], task: str) -> None:
    """They pass, the README's example runs, and vectors and answers are reproduced."""
    model, client = clients[task]
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
