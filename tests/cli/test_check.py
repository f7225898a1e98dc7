"""polybake check, given a polybake.toml: what is here is what polybake.lock says was built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import write_bert
from support.processes.commandline import polybake, without
from support.samples.weekly import weekly_but

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
step = "subtract"
vector = "mean.npy"
[[steps]]
step = "normalize"
[prompts]
query = "query: "
[fixtures]
texts = ["texts.txt"]
"""


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write_bert(folder / "bert")
    (folder / "polybake.toml").write_text(SETTINGS)
    (folder / "texts.txt").write_text("a text\n")
    np.save(folder / "mean.npy", np.full(12, 0.01, np.float32))
    polybake("build", cwd=folder)
    return folder


@pytest.fixture
def project(baked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(baked, tmp_path / "project"))


def test_what_was_just_built_is_current(project: Path) -> None:
    """Nothing is left out, also not of a copy in another folder, and Git ignores what is large."""
    printed = polybake("check", "--complete", cwd=project)
    assert "versions: the packages are those that made the file" in printed
    assert "settings: polybake.toml says what was built" in printed
    assert "inputs: 6 files are as they were" in printed
    assert "file: build/tiny.onnx is the one that was built" in printed
    assert "clients: 4 are those that were built" in printed
    for folder in ("build", ".polybake_cache"):
        assert (project / folder / ".gitignore").read_text() == "*\n"


#: Prints each file that a command opens to read it.
WATCHED = """
import sys
def watch(event, found):
    if event == "open" and isinstance(found[0], str) and found[1] in ("r", "rb"):
        print(found[0], file=sys.stderr)
sys.addaudithook(watch)
from polybake.cli.main import main
main()
"""


def test_the_lock_names_whatever_a_build_reads(project: Path) -> None:
    """A file that no line of it names could change unseen."""
    polybake("init", "--step", "steps.py", cwd=project)
    with (project / "polybake.toml").open("a") as file:
        file.write('[[steps]]\nstep = "python"\nfile = "steps.py"\n')
    command = [sys.executable, "-c", WATCHED, "build"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    opened = {Path(project, line) for line in done.stderr.splitlines()}
    inputs = {one.relative_to(project).as_posix() for one in opened if one.is_relative_to(project)}
    written = ("build/", "clients/", "fixtures/", ".polybake_cache/", "polybake.")
    read = {one for one in inputs if not one.startswith(written)}
    lock = tomllib.loads((project / "polybake.lock").read_text())
    assert {"bert/config.json", "mean.npy", "steps.py", "texts.txt"} <= read
    assert read <= {*lock["inputs"], *lock["absent"]}


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def flip(file: Path) -> None:
    """Change the last byte, and neither the size nor the time."""
    before = file.stat()
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a weight": (
        lambda at: flip(at / "bert/model.safetensors"),
        "bert/model.safetensors: changed since the build; polybake build",
    ),
    "a configuration": (
        lambda at: edit(at / "bert/config.json", "}", " }"),
        "bert/config.json: changed since the build; polybake build",
    ),
    "a tokenizer that is gone": (
        lambda at: (at / "bert/tokenizer.json").unlink(),
        "bert/tokenizer.json: is missing; put it back, or build without it: polybake build",
    ),
    "a file that the bake would have taken": (
        lambda at: (at / "bert/adapter_config.json").write_text("{}"),
        "bert/adapter_config.json: is new: the build did not find it; polybake build",
    ),
    "an array": (
        lambda at: flip(at / "mean.npy"),
        "mean.npy: changed since the build; polybake build",
    ),
    "a corpus": (
        lambda at: (at / "texts.txt").write_text("other\n"),
        "texts.txt: changed since the build; polybake build",
    ),
    "a step": (
        lambda at: edit(at / "polybake.toml", "normalize", 'truncate"\ndimension = 4 #'),
        "polybake.toml: steps changed since the build; polybake build",
    ),
    "a prompt": (
        lambda at: edit(at / "polybake.toml", "query: ", "q: "),
        "polybake.toml: prompts changed since the build; polybake build",
    ),
    "the name": (
        lambda at: edit(at / "polybake.toml", '"tiny"', '"small"'),
        "polybake.toml: model.name changed since the build; polybake build",
    ),
    "the precision": (
        lambda at: edit(at / "polybake.toml", "[[steps]]", 'precision = "int8"\n[[steps]]'),
        "polybake.toml: model.precision changed since the build; polybake build",
    ),
    "another model file": (
        lambda at: flip(at / "build/tiny.onnx"),
        "build/tiny.onnx: is not the file that was built; polybake build",
    ),
    "a client's record": (
        lambda at: edit(at / "clients/ruby/.polybake.json", "{", "{ "),
        "clients/ruby: is not the client that was built; polybake build",
    ),
}


@pytest.mark.parametrize("what", weekly_but(2, CHANGES))
def test_what_changed_is_named(project: Path, what: str) -> None:
    """Each change is red, one line a change; ``--no-cache`` sees one that left size and time."""
    change, message = CHANGES[what]
    change(project)
    printed = polybake("check", "--no-cache", cwd=project, code=1)
    changed = [line for line in printed.splitlines() if line.startswith("CHANGED: ")]
    assert f"CHANGED: {message}" in changed
    refused = ("a tokenizer that is gone", "a file that the bake would have taken")
    polybake("build", "--force", cwd=project, code=2 if what in refused else 0)
    if what not in refused:
        polybake("check", "--complete", cwd=project)


def test_a_package_of_another_version_is_named(project: Path) -> None:
    """The next build would have other bits, though every input is as it was."""
    for name in ("onnx", "polybake"):
        built = tomllib.loads((project / "polybake.lock").read_text())["made_with"][name]
        edit(project / "polybake.lock", f'{name} = "{built}"', f'{name} = "0.0.1"')
        told = f"CHANGED: {name}: 0.0.1 made the file, and {built} is installed; polybake build"
        assert f"{told}, or install {name}==0.0.1\n" in polybake("check", cwd=project, code=1)
        edit(project / "polybake.lock", f'{name} = "0.0.1"', f'{name} = "{built}"')


def test_a_package_that_is_not_installed_is_not_compared(project: Path) -> None:
    edit(project / "polybake.lock", "[made_with]", '[made_with]\nonnxscript = "9.9.9"')
    told = "not looked at: onnxscript: 9.9.9 made the file, and it is not installed here\n"
    assert told in polybake("check", cwd=project)


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("bert", "bert: the source is not on this machine; its files were not looked at"),
        ("build", "build/tiny.onnx: is not on this machine; polybake build"),
        ("polybake.lock", "polybake.lock: is missing, which says what was built; polybake build"),
    ],
)
def test_what_cannot_be_looked_at_is_said(project: Path, gone: str, message: str) -> None:
    """It is no failure on a machine that has a part of all, and one with ``--complete``."""
    path = project / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert f"not looked at: {message}\n" in polybake("check", cwd=project)
    told = json.loads(polybake("check", "--complete", "--json", cwd=project, code=1))
    assert told["passed"] is False
    assert {"state": "unseen", "text": message} in told["findings"]


def test_a_damaged_lock_is_an_error(project: Path) -> None:
    """A conflict of a merge is not passed over."""
    for content, message in (("<<<<<<< ours", "cannot be read"), ("lock = 2", "lock: ")):
        (project / "polybake.lock").write_text(content)
        printed = polybake("check", cwd=project, code=2)
        assert message in printed
        assert "restore it, or write it anew: polybake build" in printed


@pytest.mark.weekly
def test_a_client_that_was_edited_is_no_fault_and_a_stale_one_is(project: Path) -> None:
    """What a person edits is theirs; what another render would write is told apart from it."""
    printed = polybake("check", cwd=project)
    assert "whole: " in printed
    assert "reproduced: every golden case" in printed
    assert "fresh: python, node, ruby, csharp" in printed
    (file,) = (project / "clients").glob("ruby/lib/*/session.rb")
    file.write_text(file.read_text() + "# mine\n")
    ruby = ("--clients", "clients", "--language", "ruby")
    edited = f"ruby (edited by you: {file.relative_to(project / 'clients/ruby')})"
    assert f"fresh: {edited}" in polybake("check", "build/tiny.onnx", *ruby, cwd=project)
    assert "0 written" in polybake("generate", *ruby, cwd=project)
    record = project / "clients/ruby/.polybake.json"
    told = json.loads(record.read_text())
    told["files"][str(file.relative_to(project / "clients/ruby"))] = "0" * 64
    record.write_text(json.dumps(told))
    printed = polybake("check", "build/tiny.onnx", *ruby, cwd=project, code=1)
    assert f"not fresh: {file.relative_to(project)}" in printed
    printed = polybake("generate", *ruby, cwd=project, code=2)
    assert "was changed by hand, and what is generated changed, too" in printed
    polybake("generate", *ruby, "--keep-edited", cwd=project)
    assert f"fresh: {edited}" in polybake("check", "build/tiny.onnx", *ruby, cwd=project)
    polybake("generate", *ruby, "--force", cwd=project)
    assert "fresh: ruby\n" in polybake("check", "build/tiny.onnx", *ruby, cwd=project)


def test_a_client_of_another_contract_says_which_field(project: Path) -> None:
    """A thin client compares digests alone, and names this command."""
    record = project / "clients/python/.polybake.json"
    told = json.loads(record.read_text())
    told["contract"]["max_length"] = 8
    record.write_text(json.dumps(told))
    printed = polybake("check", "--language", "python", cwd=project, code=1)
    assert "clients/python: is for another contract: contract.max_length: 8 -> " in printed
    assert printed.rstrip().endswith("; run: polybake generate")


def test_it_needs_no_package_of_a_bake(project: Path) -> None:
    """A base install compares the inputs, the settings and the clients, too."""
    done = without(["onnx", "onnx_ir", "onnxscript", "tomlkit"], "check", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "inputs: 6 files are as they were" in done.stdout
