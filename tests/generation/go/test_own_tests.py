"""The Go client: clean, and its own tests pass with every model and of every task."""

from __future__ import annotations

from pathlib import Path

import pytest

from generation.go.commands import OF_VECTORS, own_tests
from models.files.task_models import TASK_MODELS
from polybake.base.files.templates import templates_folder
from support.clients.hostile import CONTRACTS
from support.clients.planted import Fault, faults
from support.clients.rendered import NAMES, OUTPUTS, attempt, check_task, rebuild, run, write

pytestmark = [pytest.mark.go, pytest.mark.usefixtures("library")]

#: Of models whose clients pass the same tests: fixtures of these names.
MODELS = ("every_feed_left", "every_feed_default", "every_feed_int8", "every_feed_bits")

STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

TASKS = [task for task in TASK_MODELS if (templates_folder() / "go" / task).is_dir()]


def test_every_render_is_clean(every_feed: Path, tmp_path: Path) -> None:
    """Gofmt finds nothing to change, whatever the name, the prompts and the dtype."""
    for kind, contract in CONTRACTS.items():
        for name in NAMES:
            write("go", tmp_path / kind / name, every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("go", tmp_path / kind, every_feed, contract={"output": output})
    assert len(list(tmp_path.rglob("*.go"))) > 12 * 16
    assert run("gofmt", "-l", "-s", tmp_path, cwd=tmp_path) == ""


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """They pass on a model that takes every feed, with the race detector, and lint is silent."""
    assert own_tests(client, every_feed, ".", "-race") > 20
    run("go", "run", STATICCHECK, "-checks=all", "./...", cwd=client)  # fails if it finds anything


@pytest.mark.parametrize("model", MODELS)
def test_its_own_tests_pass_with(
    model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The same, padded on the left, with a default prompt, and quantized."""
    path: Path = request.getfixturevalue(model)
    assert own_tests(write("go", tmp_path, path), path, OF_VECTORS) > 6


def test_weights_beside_the_graph(every_feed_beside: Path, tmp_path: Path) -> None:
    """The client of such a file is formatted, and all its tests pass."""
    folder = write("go", tmp_path, every_feed_beside)
    assert run("gofmt", "-l", "-s", folder, cwd=folder) == ""
    assert own_tests(folder, every_feed_beside) > 20


def test_hostile_prompts_stay_text(every_feed_hostile: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests."""
    model = every_feed_hostile
    assert own_tests(write("go", tmp_path / "client", model), model, OF_VECTORS) > 6


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_its_client(task: str, tmp_path: Path) -> None:
    """It is formatted, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = write("go", tmp_path / "client", model)
    assert run("gofmt", "-l", "-s", folder, cwd=folder) == ""
    assert own_tests(folder, model) > 5
    check_task(model, rebuild(folder))


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = attempt("go", "test", "-p=1", "-run=GoldenCases", ".", cwd=client)
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


@pytest.mark.planted
@faults("go")
def test_its_own_tests_catch(fault: Fault, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The client compiles with the fault, and one of its own tests fails."""
    model: Path = request.getfixturevalue(fault.model)
    folder = write("go", tmp_path, model)
    fault.plant(folder)
    run("go", "vet", "./...", cwd=folder)
    done = attempt("go", "test", "-p=1", ".", cwd=folder, POLYBAKE_MODEL=str(model))
    assert done.returncode == 1, done.stdout
    assert "--- FAIL: " in done.stdout, done.stdout
