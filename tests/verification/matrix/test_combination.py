"""Every combination of every table, once, and the machine that runs them."""

from __future__ import annotations

from pathlib import Path

from polybake.config import MatrixTable
from polybake.verification.matrix.combination import Combination, combinations
from polybake.verification.matrix.machine import machine


def test_every_list_is_combined_with_every_other() -> None:
    """The last list changes first, so that rows of one environment follow each other."""
    table = MatrixTable(language="python", runtimes=("1.24.3", "newest"), threads=(1, 2))
    found = [(one.runtime, one.threads) for one in combinations([table])]
    assert found == [("1.24.3", 1), ("1.24.3", 2), ("newest", 1), ("newest", 2)]
    two = {"tokenizers": ("0.13.3", "0.23.2"), "instructions": ("Haswell", "Nehalem")}
    full = table.model_copy(update={"devices": ("cpu", "cuda"), **two})
    assert len(set(combinations([full]))) == 2**5
    assert combinations([MatrixTable(language="ruby")]) == (Combination("ruby"),)


def test_what_two_tables_ask_for_is_done_once() -> None:
    """Duplicates are left out, and the order of the first table counts."""
    tables = [
        MatrixTable(language="python", runtimes=("newest", "1.24.3")),
        MatrixTable(language="python", runtimes=("1.24.3", "1.24.3", "1.25.0")),
    ]
    assert [one.runtime for one in combinations(tables)] == ["newest", "1.24.3", "1.25.0"]


def test_only_what_is_installed_names_an_environment() -> None:
    """Rows that differ in threads or processors share the packages; those of devices do not."""
    one = Combination("python", runtime="1.24.3", tokenizer="0.22.2", threads=1)
    other = Combination("python", runtime="1.24.3", tokenizer="0.22.2", instructions="Haswell")
    assert one.environment == other.environment == "python-cpu-runtime-1.24.3-tokenizer-0.22.2"
    assert Combination("python", "cuda").environment == "python-cuda"


def test_a_combination_is_told_in_full() -> None:
    """Every choice is named; what is left as it is goes without saying."""
    assert str(Combination("node")) == "node on cpu"
    assert str(Combination("node", "cuda", "1.30.0", "newest", 2, "Haswell")) == (
        "node on cuda, runtime 1.30.0, tokenizer newest, threads 2, instructions Haswell"
    )


def test_the_instructions_that_decide_are_named(tmp_path: Path) -> None:
    """Only whole words count: avx512f is not avx512_vnni. Without the file a name is left."""
    information = tmp_path / "cpuinfo"
    information.write_text(
        "processor\t: 0\nmodel name\t: A Processor @ 2 GHz\nflags\t\t: fpu sse4_1 avx2 avx512f\n"
    )
    assert machine(information).startswith("A Processor @ 2 GHz (sse4_1, avx2, avx512f), ")
    assert machine(tmp_path / "none").strip(", ")
