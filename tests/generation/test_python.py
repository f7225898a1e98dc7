"""The Python client: clean, packaged, installed elsewhere, and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from models.every_feed import write_every_feed_model
from support.hostile import CONTRACTS
from support.rendered import NAMES, OUTPUTS, run, write

pytestmark = pytest.mark.python


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the client's packages and its checkers."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    python = folder / "bin/python"
    tools = ["numpy", "tokenizers<0.24", "onnxruntime", "pytest", "mypy>=2", "ruff>=0.17"]
    run(python, "-m", "pip", "install", "--quiet", *tools, cwd=folder)
    return python


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_every_render_is_clean(
    python: Path, every_feed: Path, tmp_path: Path, name: str, contract: str
) -> None:
    """Ruff has nothing to change and mypy nothing to say, whatever the name and the prompts."""
    folder = write(
        "python", tmp_path / "client", every_feed, name=name, contract=CONTRACTS[contract]
    )
    run(python, "-m", "ruff", "format", "--check", ".", cwd=folder)
    run(python, "-m", "ruff", "check", ".", cwd=folder)
    if contract == "hostile":
        cache = f"--cache-dir={python.parent}/mypy-cache"
        run(python, "-m", "mypy", cache, "src", "harness", cwd=folder)


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_clean(python: Path, every_feed: Path, tmp_path: Path, output: str) -> None:
    """The same, whatever the dtype of the embeddings."""
    folder = write("python", tmp_path, every_feed, contract={"output": OUTPUTS[output]})
    run(python, "-m", "ruff", "format", "--check", ".", cwd=folder)
    run(python, "-m", "ruff", "check", ".", cwd=folder)
    cache = f"--cache-dir={python.parent}/mypy-cache"
    run(python, "-m", "mypy", cache, "src", "harness", cwd=folder)


@pytest.mark.parametrize(
    "model", ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]
)
def test_its_own_tests_pass(
    python: Path, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    folder = write("python", tmp_path / "client", path)
    printed = run(
        python,
        "-m",
        "pytest",
        "-q",
        "tests",
        cwd=folder,
        POLYBAKE_MODEL=str(path),
        PYTHONPATH="src",
    )
    assert re.search(r"\b(2[5-9]|[3-9]\d) passed", printed), printed


def test_its_tests_need_a_model(python: Path, every_feed: Path, tmp_path: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    folder = write("python", tmp_path / "client", every_feed)
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "tests"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_hostile_prompts_stay_text(python: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts compiles and passes its own tests."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    folder = write("python", tmp_path / "client", model)
    run(
        python,
        "-m",
        "pytest",
        "-q",
        "tests",
        cwd=folder,
        POLYBAKE_MODEL=str(model),
        PYTHONPATH="src",
    )


def test_the_package_works_elsewhere(python: Path, every_feed: Path, tmp_path: Path) -> None:
    """The wheel, installed in an empty project, runs the README's three lines."""
    folder = write("python", tmp_path / "client", every_feed)
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ".", cwd=folder)
    (built,) = tmp_path.glob("*.whl")
    project = tmp_path / "an empty project"
    project.mkdir()
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        "packages",
        built,
        cwd=project,
    )
    block = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    assert block
    lines = block[1].replace("every-feed.onnx", str(every_feed))
    assert " " in str(every_feed)
    assert run(python, "-c", lines, cwd=project, PYTHONPATH="packages") == "(1, 7)\n"
