"""The Java client's own tests pass, whatever the model, and catch planted faults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from support.clients.java import KINDS, Java, passed
from support.clients.planted import Fault, faults
from support.clients.rendered import check_task, write

pytestmark = pytest.mark.java

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("EmbedderTest", "FixtureTest", "DamagedFixtureTest", "BatchesTest", "HarnessTest")


@pytest.mark.parametrize("kind", ["every_feed", *KINDS])
def test_its_own_tests_pass(java: Java, kind: str, clients: dict[str, tuple[Path, Path]]) -> None:
    """The client's tests pass with every feed, padded on either side, and quantized."""
    model, client = clients[kind]
    names, least = ((), 65) if kind == "every_feed" else (OF_VECTORS, 35)
    assert passed(java.test(client, model, *names)) >= least


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(
    java: Java, task: str, clients: dict[str, tuple[Path, Path]]
) -> None:
    """It passes its own tests, runs its README's lines, and reproduces vectors and answers."""
    model, client = clients[task]
    assert passed(java.test(client, model)) > 3
    java.run_readme(client)
    check_task(model, client)


def test_hostile_prompts_stay_text(java: Java, every_feed_hostile: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests."""
    model = every_feed_hostile
    client = write("java", tmp_path / "client", model, name="hostile")
    java.build(client)
    assert passed(java.test(client, model, *OF_VECTORS)) >= 35


def test_weights_beside_the_graph(java: Java, clients: dict[str, tuple[Path, Path]]) -> None:
    """The client of such a file passes its tests of files and of vectors."""
    model, client = clients["every_feed_beside"]
    assert passed(java.test(client, model, "ModelFileTest", *OF_VECTORS)) >= 45


def test_its_tests_need_a_model(java: Java, clients: dict[str, tuple[Path, Path]]) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = java.test(clients["every_feed"][1], None, "EmbedderTest")
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


@pytest.mark.planted
@faults("java")
def test_a_planted_fault_is_caught(
    fault: Fault, java: Java, clients: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    """The file compiles with the fault, and one of the tests that are about it fails.

    Only their class is run: another's test may run a graph in a session that the fault let close,
    and the process ends.
    """
    model, client = clients[fault.model]
    with fault.planted(client):
        java.compile(*client.glob(fault.file), into=tmp_path)
    done = java.test(client, model, fault.tests, instead=[tmp_path])
    failed = re.findall(r"^  JUnit Jupiter:(.+)", done.stdout, re.MULTILINE)
    assert done.returncode == 1, done.stdout
    assert failed, done.stdout
    print(fault.id, *failed)  # noqa: T201 - which tests caught it, with -s
