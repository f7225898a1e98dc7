"""The Ruby client's own tests: they pass for every kind of model, and see what is planted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generation.ruby.commands import evaluate, own_tests
from models.files.task_models import TASK_MODELS
from support.clients.planted import Fault, faults
from support.clients.readme import blocks
from support.clients.rendered import attempt, check_task, run, write

pytestmark = pytest.mark.ruby

MODELS = ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = "{embedder,feeds,self_check}"


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("model", MODELS)
def test_its_own_tests_pass(
    gems: str, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    names, least = ("*", 90) if model == MODELS[0] else (OF_VECTORS, 12)
    done = own_tests(write("ruby", tmp_path, path), path, gems, names)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"\b(\d+) runs, .* 0 failures, 0 errors, 0 skips", done.stdout)
    assert found, done.stdout
    assert int(found[1]) >= least


def test_a_client_without_parts(client: Path, gems: str, every_feed: Path, tmp_path: Path) -> None:
    """The core is clean, and passes its own tests by itself."""
    folder = write("ruby", tmp_path / "client", every_feed, parts=())
    assert not list(folder.rglob("bulk*"))
    run("bundle", "exec", "standardrb", "--no-fix", folder, cwd=client, BUNDLE_PATH=gems)
    done = own_tests(folder, every_feed, gems)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d\d+ runs, .* 0 failures, 0 errors, 0 skips", done.stdout), done.stdout


def test_weights_beside_the_graph(
    client: Path, gems: str, every_feed_beside: Path, tmp_path: Path
) -> None:
    """The client of such a file is clean, and its tests of files and of vectors pass."""
    folder = write("ruby", tmp_path / "client", every_feed_beside)
    run("bundle", "exec", "standardrb", "--no-fix", folder, cwd=client, BUNDLE_PATH=gems)
    done = own_tests(folder, every_feed_beside, gems, "{model_file,self_check,embedder}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d\d runs, .* 0 failures, 0 errors, 0 skips", done.stdout), done.stdout


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(client: Path, gems: str, task: str, tmp_path: Path) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = write("ruby", tmp_path / "client", model)
    run("bundle", "exec", "standardrb", "--no-fix", folder, cwd=client, BUNDLE_PATH=gems)
    done = own_tests(folder, model, gems)
    assert done.returncode == 0, done.stdout + done.stderr
    evaluate(folder, gems, model, blocks(folder, "ruby", model)[1])
    (folder / "vendor").mkdir()
    (folder / "vendor/bundle").symlink_to(gems)
    run("bundle", "install", "--quiet", cwd=folder, BUNDLE_PATH=gems)
    check_task(model, folder)


@pytest.mark.planted
@pytest.mark.usefixtures("client")
@faults("ruby")
def test_its_own_tests_catch(
    fault: Fault, gems: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests run to their end and fail when a fault is planted into it."""
    model: Path = request.getfixturevalue(fault.model)
    folder = write("ruby", tmp_path, model)
    fault.plant(folder)
    done = own_tests(folder, model, gems)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"\b[1-9]\d* (failures|errors)", done.stdout), done.stdout + done.stderr


def test_its_tests_run_with_rake_and_need_a_model(
    client: Path, gems: str, every_feed: Path
) -> None:
    """With POLYBAKE_MODEL they pass; without, they fail and say what to set."""
    command = ("bundle", "exec", "rake", "test")
    run(*command, cwd=client, BUNDLE_PATH=gems, POLYBAKE_MODEL=str(every_feed))
    done = attempt(*command, cwd=client, BUNDLE_PATH=gems)
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stderr


@pytest.mark.usefixtures("client")
def test_hostile_prompts_stay_text(gems: str, every_feed_hostile: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests."""
    model = every_feed_hostile
    done = own_tests(write("ruby", tmp_path / "client", model), model, gems, OF_VECTORS)
    assert done.returncode == 0, done.stdout + done.stderr
