"""Every combination of a matrix once, in a copy of the client with packages of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from polybake.config import MatrixTable
from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client, read_client
from polybake.verification.matrix.combination import Combination, combinations
from polybake.verification.matrix.environment import MARK, installed
from polybake.verification.matrix.machine import machine
from polybake.verification.verdict import HarnessError, Status

#: Adds a line to a file beside the client's own, as npm adds node_modules.
INSTALL = "open('installed', 'a').write('x'); import sys; sys.exit({code})"
ROW = Combination("tiny")


def client(folder: Path, code: int = 0) -> Client:
    """A client whose prepare command shows how often it ran."""
    folder.mkdir(exist_ok=True)
    prepare = [sys.executable, "-S", "-c", INSTALL.format(code=code)]
    harness = {"language": "tiny", "prepare": [prepare], "run": ["x"]}
    (folder / "harness.json").write_text(json.dumps(harness))
    return read_client(folder)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def times(copy: Client) -> int:
    return len((copy.folder / "installed").read_text())


def test_the_client_itself_stays_as_it_is(tmp_path: Path) -> None:
    """Packages are installed once into a copy, which begins without those of the client."""
    (tmp_path / "client" / "node_modules").mkdir(parents=True)
    for _ in range(2):
        copy = installed(client(tmp_path / "client"), ROW, tmp_path / "matrix", 60)
        assert copy.folder == tmp_path / "matrix" / "tiny-cpu"
        assert names(tmp_path / "client") == ["harness.json", "node_modules"]
        assert names(copy.folder) == [MARK, "harness.json", "installed"]
        assert times(copy) == 1


def test_another_client_is_installed_anew(tmp_path: Path) -> None:
    """The copy gets changed files and loses removed ones."""
    (tmp_path / "client").mkdir()
    (tmp_path / "client" / "old").write_text("1")
    installed(client(tmp_path / "client"), ROW, tmp_path / "matrix", 60)
    (tmp_path / "client" / "old").rename(tmp_path / "client" / "new")
    copy = installed(client(tmp_path / "client"), ROW, tmp_path / "matrix", 60)
    assert names(copy.folder) == [MARK, "harness.json", "installed", "new"]
    assert times(copy) == 1


def test_what_was_not_finished_is_begun_anew(tmp_path: Path) -> None:
    """A failing command is a missing toolchain, and leaves nothing that looks finished."""
    for _ in range(2):
        with pytest.raises(HarnessError, match="exit code 5") as caught:
            installed(client(tmp_path / "client", code=5), ROW, tmp_path / "matrix", 60)
        assert caught.value.status is Status.MISSING_TOOLCHAIN
    copy = installed(client(tmp_path / "client"), ROW, tmp_path / "matrix", 60)
    assert times(copy) == 1


def test_a_folder_of_the_users_is_not_touched(tmp_path: Path) -> None:
    """Only what a matrix made is removed."""
    own = tmp_path / "matrix" / "tiny-cpu" / "thesis.txt"
    own.parent.mkdir(parents=True)
    own.write_text("years of work")
    with pytest.raises(InputError, match="choose another place with --folder"):
        installed(client(tmp_path / "client"), ROW, tmp_path / "matrix", 60)
    assert own.read_text() == "years of work"


def test_a_missing_program_is_no_environment(tmp_path: Path) -> None:
    """No copy is made for a language that this machine lacks."""
    folder = tmp_path / "client"
    lacking = client(folder).model_copy(update={"requires": ("no-such-program",)})
    with pytest.raises(HarnessError, match="no-such-program"):
        installed(lacking, ROW, tmp_path / "matrix", 60)
    assert not (tmp_path / "matrix").exists()


def test_every_list_is_combined_with_every_other() -> None:
    """The last list changes first, so that rows of one environment follow each other."""
    table = MatrixTable(language="python", runtimes=("1.24.3", "newest"), threads=(1, 2))
    found = [(one.runtime, one.threads) for one in combinations([table])]
    assert found == [("1.24.3", 1), ("1.24.3", 2), ("newest", 1), ("newest", 2)]
    two = {"tokenizers": ("0.13.3", "0.23.2"), "instructions": ("Haswell", "Nehalem")}
    full = table.model_copy(update={"devices": ("cpu", "cuda"), **two})
    assert len(set(combinations([full]))) == 2**5
    assert combinations([MatrixTable(language="ruby")]) == (Combination("ruby"),)
    assert len(combinations([table, full, table])) == 2**5 + 4  # each once


def test_a_combination_is_told_in_full() -> None:
    """What is left as it is goes without saying, and only packages name an environment."""
    assert str(Combination("node")) == "node on cpu"
    assert str(Combination("node", "cuda", "1.30.0", "newest", 2, "Haswell")) == (
        "node on cuda, runtime 1.30.0, tokenizer newest, threads 2, instructions Haswell"
    )
    one = Combination("python", runtime="1.24.3", tokenizer="0.22.2", threads=1)
    other = Combination("python", runtime="1.24.3", tokenizer="0.22.2", instructions="Haswell")
    assert one.environment == other.environment == "python-cpu-runtime-1.24.3-tokenizer-0.22.2"
    assert Combination("python", "cuda").environment == "python-cuda"


def test_the_instructions_that_decide_are_named(tmp_path: Path) -> None:
    """Only whole words count: avx512f is not avx512_vnni. Without the file a name is left."""
    information = tmp_path / "cpuinfo"
    information.write_text(
        "processor\t: 0\nmodel name\t: A Processor @ 2 GHz\nflags\t\t: fpu sse4_1 avx2 avx512f\n"
    )
    assert machine(information).startswith("A Processor @ 2 GHz (sse4_1, avx2, avx512f), ")
    assert machine(tmp_path / "none").strip(", ")
