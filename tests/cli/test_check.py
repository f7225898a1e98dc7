"""polybake check, given a polybake.toml: the file was baked with these settings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from models.folders.tiny_folders import write_bert
from support.processes.commandline import polybake, without

pytestmark = pytest.mark.slow

SETTINGS = """
[model]
name = "tiny"
source = "bert"
output = "build/tiny.onnx"
[[steps]]
step = "pool"
mode = "mean"
[[steps]]
step = "normalize"
[prompts]
query = "query: "
"""


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write_bert(folder / "bert")
    (folder / "polybake.toml").write_text(SETTINGS)
    polybake("build", cwd=folder)
    return folder


@pytest.fixture
def project(baked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(baked, tmp_path / "project"))


def test_what_was_just_baked_is_current(project: Path) -> None:
    """A fresh file is current, and Git ignores its folder."""
    assert "current: build/tiny.onnx was baked with these settings" in polybake(
        "check", cwd=project
    )
    assert (project / "build" / ".gitignore").read_text() == "*\n"


POOL = '[[steps]]\nstep = "pool"'


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        (
            "normalize",
            'truncate"\ndimension = 4 #',
            1,
            "steps 'pool(mode=mean) -> normalize()', and",
        ),
        ("normalize", 'truncate"\ndimensions = 4 #', 2, "steps[1].dimensions: unkn"),
        ('"query: "', '"q: "', 1, "with prompts {'query': 'query: '}, and polybake.toml says {'q"),
        ('"tiny"', '"small"', 1, "with name 'tiny', and polybake.toml says 'small'"),
        (POOL, f'precision = "int8"\n{POOL}', 1, "precision"),
        (POOL, f'expose = ["pool"]\n{POOL}', 1, "expose"),
    ],
)
def test_settings_that_were_edited_since(
    project: Path, old: str, new: str, code: int, message: str
) -> None:
    """The key that differs is named, and so is a step that no bake would take."""
    config = project / "polybake.toml"
    config.write_text(config.read_text().replace(old, new, 1))
    assert message in polybake("check", cwd=project, code=code)


def test_a_stale_client_is_found(project: Path) -> None:
    """Golden cases are reproduced; a changed client file ends with 1, and force is the way back."""
    printed = polybake("check", cwd=project)
    assert "whole: " in printed
    assert "reproduced: every golden case" in printed
    assert "fresh: python, node, ruby, csharp" in printed
    (file,) = (project / "clients").glob("ruby/lib/*/session.rb")
    file.write_text(file.read_text() + "# mine\n")
    ruby = ("--clients", "clients", "--language", "ruby")
    printed = polybake("check", "build/tiny.onnx", *ruby, cwd=project, code=1)
    assert f"not fresh: {file.relative_to(project)}" in printed
    assert "was changed by hand" in polybake("generate", *ruby, cwd=project, code=2)
    polybake("generate", *ruby, "--force", cwd=project)
    assert "fresh: ruby" in polybake("check", "build/tiny.onnx", *ruby, cwd=project)


def test_a_client_of_another_contract_says_which_field(project: Path) -> None:
    """A thin client compares digests alone, and names this command."""
    record = project / "clients/python/.polybake.json"
    told = json.loads(record.read_text())
    told["contract"]["max_length"] = 8
    record.write_text(json.dumps(told))
    printed = polybake("check", "--language", "python", cwd=project, code=1)
    assert "clients/python: is for another contract: contract.max_length: 8 -> " in printed
    assert printed.rstrip().endswith("; run: polybake generate")


def test_without_its_source_the_settings_are_not_compared(project: Path) -> None:
    """A checkout of a service has the model file alone; what is left out is said."""
    shutil.rmtree(project / "bert")
    printed = polybake("check", cwd=project)
    assert "skipped: the settings, since their source bert is not here" in printed


def test_without_the_packages_of_a_bake_neither(project: Path) -> None:
    """A base install cannot compare the settings, and checks the rest."""
    done = without(["onnx", "onnx_ir", "onnxscript"], "check", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "skipped: the settings, since onnx" in done.stdout
