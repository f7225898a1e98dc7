"""The Node client's own tests: what passes them, and what they catch."""

from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from support.clients.heads import check_heads, write_heads_client
from support.clients.npm import Another, check_clean, check_types, own_tests, with_packages_of
from support.clients.planted import Fault, faults
from support.clients.rendered import attempt, check_task

pytestmark = pytest.mark.node

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("embedder", "batches", "self-check")


@pytest.mark.parametrize(
    "model",
    ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits", "every_feed_default"],
)
def test_its_own_tests_pass(another: Another, model: str, request: pytest.FixtureRequest) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    names, least = ((), 50) if model == "every_feed" else (OF_VECTORS, 12)
    passed, failed = own_tests(another(path), path, *names)
    assert not failed
    assert passed >= least


def test_weights_beside_the_graph(another: Another, every_feed_beside: Path) -> None:
    """The client of such a file is clean, and its tests of files and of vectors pass."""
    folder = another(every_feed_beside)
    check_clean(folder, types=True)
    passed, failed = own_tests(folder, every_feed_beside, "modelfile", *OF_VECTORS)
    assert (passed > 20, failed) == (True, set())


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(another: Another, task: str, tmp_path: Path) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = another(model)
    check_clean(folder, types=True)
    passed, failed = own_tests(folder, model)
    assert (passed > 10, failed) == (True, set())
    check_task(model, folder)


@pytest.mark.planted
@faults("node")
def test_its_own_tests_catch(
    another: Another, fault: Fault, request: pytest.FixtureRequest
) -> None:
    """A fault fails the few tests that are about it, and no module is left that does not load.

    Only the file of these tests is run: all would take ten times as long.
    """
    path: Path = request.getfixturevalue(fault.model)
    folder = another(path)
    fault.plant(folder)
    passed, failed = own_tests(folder, path, fault.tests)
    assert 1 <= len(failed) <= 8
    assert passed > 2


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = attempt("npm", "test", cwd=client)
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_hostile_prompts_stay_text(another: Another, every_feed_hostile: Path) -> None:
    """A client for a model with hostile prompts compiles and passes its own tests."""
    folder = another(every_feed_hostile)
    check_types(folder)
    assert not own_tests(folder, every_feed_hostile, *OF_VECTORS)[1]


@pytest.mark.parametrize("beside", [False, True])
def test_it_says_of_damaged_heads_what_every_reader_says(
    client: Path, beside: bool, tmp_path: Path
) -> None:
    """One harness opens every file of fixtures/heads in turn."""
    folder = write_heads_client("node", tmp_path / "client", beside=beside)
    check_heads(with_packages_of(client, folder), tmp_path, beside=beside)
