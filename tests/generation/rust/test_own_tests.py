"""The Rust client's own tests pass with every model and of every task, and catch faults."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from polybake.verification.verify import verify
from support.clients.cargo import cargo, prepare
from support.clients.hostile import HOSTILE
from support.clients.planted import Fault, faults
from support.clients.rendered import attempt, check_task, onnxruntime, write

pytestmark = pytest.mark.rust

#: Of models whose clients pass the same tests: fixtures of these names begin with ``every_feed_``.
KINDS = ("left", "default", "int8", "bits", "beside")


def own_tests(folder: Path, model: Path, *options: str) -> int:
    """How many of the client's own tests pass; none fails."""
    printed = cargo(
        *("test", "--release", *options), cwd=folder, POLYBAKE_MODEL=str(model.resolve())
    )
    return sum(map(int, re.findall(r"test result: ok\. (\d+) passed; 0 failed; 0 ign", printed)))


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """The client's tests pass on a model that takes every feed."""
    assert own_tests(client, every_feed) > 30


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_model(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """They pass also where it is padded on the left, quantized, or has its weights beside it."""
    model: Path = request.getfixturevalue(f"every_feed_{kind}")
    folder = prepare(write("rust", tmp_path, model, name=f"every-feed-{kind}"))
    assert own_tests(folder, model, "--lib") > 28
    assert verify(model, folder).failures == ()


def test_hostile_prompts(every_feed_hostile: Path, tmp_path: Path) -> None:
    """What stands in prompts is text, and reaches the tokenizer as it is."""
    model = every_feed_hostile
    changes = {"name": "hostile", "description": HOSTILE}
    folder = prepare(write("rust", tmp_path / "client", model, **changes))
    assert own_tests(folder, model, "--lib", "embedder") > 8
    assert verify(model, folder).failures == ()
    metadata = cargo("metadata", "--no-deps", "--format-version", "1", cwd=folder)
    found = json.loads(metadata)["packages"][0]["description"]
    assert found == " ".join(HOSTILE.split())


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(task: str, tmp_path: Path) -> None:
    """It passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = prepare(write("rust", tmp_path / "client", model))
    assert own_tests(folder, model, "--lib") > 1
    check_task(model, folder)


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = attempt("cargo", "test", "--release", "--lib", "embedder", cwd=client)
    assert done.returncode != 0
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


@pytest.mark.planted
@faults("rust")
def test_a_planted_fault_is_caught(
    fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client compiles with the fault, and one of its own tests fails."""
    model: Path = request.getfixturevalue(fault.model)
    client = write("rust", tmp_path, model, name="planted")
    fault.plant(client)
    environment = {"POLYBAKE_MODEL": str(model), "ORT_DYLIB_PATH": str(onnxruntime())}
    cargo("test", "--release", "--no-run", cwd=client)
    done = attempt("cargo", "test", "--release", "--no-fail-fast", cwd=client, **environment)
    assert done.returncode != 0, done.stdout
    assert re.findall(r"^---- (\S+) stdout ----$", done.stdout, re.MULTILINE), done.stdout
