"""The own tests of the browser's client: what passes them, and what they catch."""

from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.generation import render_client
from polybake.verification.verify import verify
from support.clients.heads import check_heads, write_heads_client
from support.clients.npm import Another, check_clean, check_types, own_tests, with_packages_of
from support.clients.planted import Fault, faults
from support.clients.rendered import attempt, check_task, failed

pytestmark = pytest.mark.browser

#: Of models whose clients pass the same tests: fixtures of these names.
MODELS = ("every_feed_left", "every_feed_default", "every_feed_int8", "every_feed_bits")

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("embedder", "batches", "self-check", "tokenizer")


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """They pass on a model that takes every feed."""
    passed, wrong = own_tests(client, every_feed)
    assert (passed > 60, wrong) == (True, set())


@pytest.mark.parametrize("model", MODELS)
def test_vectors_of(another: Another, model: str, request: pytest.FixtureRequest) -> None:
    """They are golden, padded on the left, with a default prompt, and quantized."""
    path: Path = request.getfixturevalue(model)
    folder = another(path)
    passed, wrong = own_tests(folder, path, *OF_VECTORS)
    assert (passed > 20, wrong) == (True, set())
    report = verify(path, folder)
    assert (report.exit_code(), failed(report)) == (0, [])


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(another: Another, task: str, tmp_path: Path) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = another(model)
    check_clean(folder, types=True)
    passed, wrong = own_tests(folder, model)
    assert (passed > 10, wrong) == (True, set())
    check_task(model, folder)


@pytest.mark.planted
@faults("browser")
def test_its_own_tests_catch(
    another: Another, fault: Fault, request: pytest.FixtureRequest
) -> None:
    """A fault fails the few tests that are about it."""
    path: Path = request.getfixturevalue(fault.model)
    folder = another(path)
    fault.plant(folder)
    passed, wrong = own_tests(folder, path, fault.tests)
    assert 1 <= len(wrong) <= 8
    assert passed > 0


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = attempt("npm", "test", cwd=client)
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stderr


def test_hostile_prompts_stay_text(another: Another, every_feed_hostile: Path) -> None:
    """A client for a model with hostile prompts compiles, and its vectors are golden."""
    folder = another(every_feed_hostile)
    check_types(folder)
    report = verify(every_feed_hostile, folder)
    assert (report.exit_code(), failed(report)) == (0, [])


def test_heads_are_read_as_everywhere(client: Path, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    folder = with_packages_of(client, write_heads_client("browser", tmp_path / "client"))
    check_heads(folder, tmp_path)


def test_a_model_with_weights_beside_has_no_client(every_feed_beside: Path) -> None:
    """It is above what a page holds, and said before anything is written."""
    with pytest.raises(InputError, match="browser: its clients take no weights beside"):
        render_client(read_head(every_feed_beside).manifest, "browser")
