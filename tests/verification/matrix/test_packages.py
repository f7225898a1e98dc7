"""Other versions of packages for a prepared client."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from models.files.search_model import write_search_model
from polybake.config import MatrixTable
from polybake.errors import InputError
from polybake.generation.generate import generate
from polybake.verification.harness.harness_file import Client, find_clients, read_client
from polybake.verification.matrix.combination import Combination
from polybake.verification.matrix.matrix import run_matrix
from polybake.verification.matrix.packages import install_commands

CLIENTS = Path(__file__).parents[3] / "clients"


def client(language: str, device: str = "cpu") -> Client:
    return read_client(CLIENTS / language).on(device)


def test_versions_are_requests_of_a_language_s_own_installer() -> None:
    """Both packages are in one command; without versions nothing is added in any language."""
    for language in ("python", "node", "ruby", "csharp"):
        assert install_commands(client(language), Combination(language, threads=1)) == ()
    both = Combination("python", "cpu", "1.24.3", "newest")
    (command,) = install_commands(client("python"), both)
    assert command[:4] == (".venv/bin/python", "-m", "pip", "install")
    assert command[-2:] == ("onnxruntime==1.24.3", "tokenizers")
    assert "--upgrade" in command
    both = Combination("node", "cpu", "1.21.1", "newest")
    (command,) = install_commands(client("node"), both)
    assert command[-2:] == ("onnxruntime-node@1.21.1", "tokenizers@latest")
    assert "--ignore-scripts" in command  # those of older versions download CUDA


def test_on_cuda_it_is_the_package_for_gpus() -> None:
    """It goes into the client's environment for CUDA, whose scripts run."""
    one = Combination("python", "cuda", "newest")
    (command,) = install_commands(client("python", "cuda"), one)
    assert (command[0], command[-1]) == (".venv-cuda/bin/python", "onnxruntime-gpu[cuda,cudnn]")
    on_cuda = install_commands(client("node", "cuda"), Combination("node", "cuda", "newest"))
    assert on_cuda[1:] == (("npm", "rebuild", "onnxruntime-node"),)


def test_a_language_without_versions_is_refused() -> None:
    """The message lists the languages whose versions can be chosen."""
    with pytest.raises(InputError, match="can be chosen for: python, node; leave both out"):
        install_commands(client("ruby"), Combination("ruby", tokenizer="0.7.0"))


@pytest.mark.python
@pytest.mark.skipif(
    "POLYBAKE_VERSIONS" not in os.environ, reason="installs packages: nox -s runtimes runs it"
)
def test_each_row_runs_the_versions_that_it_names(tmp_path: Path) -> None:
    """A pinned version and the newest one are really installed and run."""
    model = write_search_model(tmp_path / "search.onnx")
    generate(model, tmp_path / "clients", languages=["python"])
    clients = find_clients(tmp_path / "clients")
    table = MatrixTable(language="python", runtimes=("1.24.3", "newest"), tokenizers=("0.22.2",))
    report = run_matrix([model], clients, [table], tmp_path / "environments")
    old, new = report.rows
    assert old.versions is not None
    assert new.versions is not None
    assert old.versions.runtime_version == "1.24.3"
    assert new.versions.runtime_version != "1.24.3"
    assert new.versions.tokenizer_version == old.versions.tokenizer_version == "0.22.2"
    assert [cell.status for cell in report.cells] == ["pass", "pass"]
    assert report.exit_code() == 0
