"""The Python client's own tests: what passes them, and what they catch."""

import re
from pathlib import Path

import pytest

from generation.python.commands import OF_VECTORS, check_clean, run_its_tests, run_script
from models.files.task_models import TASK_MODELS
from support.clients.heads import check_heads, write_heads_client
from support.clients.planted import Fault, faults
from support.clients.readme import blocks
from support.clients.rendered import attempt, check_task, write

pytestmark = pytest.mark.python

MODELS = ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]


@pytest.mark.parametrize("model", MODELS)
def test_its_own_tests_pass(
    python: Path, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    tests, least = ((), 100) if model == MODELS[0] else (OF_VECTORS, 20)
    printed = run_its_tests(python, write("python", tmp_path / "client", path), path, *tests)
    found = re.search(r"\b(\d+) passed", printed)
    assert found, printed
    assert int(found[1]) >= least


def test_a_client_without_parts(python: Path, every_feed: Path, tmp_path: Path) -> None:
    """The core is clean, and passes its own tests by itself."""
    folder = write("python", tmp_path / "client", every_feed, parts=())
    assert not list(folder.rglob("bulk.py"))
    check_clean(python, folder)
    assert re.search(r"\b\d\d+ passed", run_its_tests(python, folder, every_feed))


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(
    python: Path, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = write("python", tmp_path / "client", model)
    check_clean(python, folder)
    run_its_tests(python, folder, model)
    for example in blocks(folder, "python", model):
        run_script(python, folder, example)
    (folder / ".venv").symlink_to(python.parents[1])
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    check_task(model, folder)


def test_its_tests_need_a_model(python: Path, client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    command = (python, "-m", "pytest", "-q", "-x", "tests")
    done = attempt(*command, cwd=client, PYTHONPATH="src")
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


@pytest.mark.planted
@faults("python")
def test_its_tests_catch(
    python: Path, fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A fault that is planted into the client fails the client's own tests."""
    model: Path = request.getfixturevalue(fault.model)
    folder = write("python", tmp_path / "client", model)
    fault.plant(folder)
    with pytest.raises(AssertionError, match=r"\b1 failed"):
        run_its_tests(python, folder, model, f"tests/test_{fault.tests}.py")


def test_weights_beside_the_graph(python: Path, every_feed_beside: Path, tmp_path: Path) -> None:
    """The client of such a file is clean, and its tests of files and of vectors pass."""
    folder = write("python", tmp_path / "client", every_feed_beside)
    check_clean(python, folder)
    run_its_tests(python, folder, every_feed_beside, "tests/test_modelfile.py", *OF_VECTORS)


def test_hostile_prompts_stay_text(python: Path, every_feed_hostile: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts compiles and passes its own tests."""
    folder = write("python", tmp_path / "client", every_feed_hostile)
    run_its_tests(python, folder, every_feed_hostile, *OF_VECTORS)


@pytest.mark.parametrize("beside", [False, True])
def test_damaged_heads(
    python: Path, beside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file of fixtures/heads gets the very words of the specification."""
    folder = write_heads_client("python", tmp_path / "client", beside=beside)
    (folder / ".venv").symlink_to(python.parents[1])
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    check_heads(folder, tmp_path, beside=beside)
