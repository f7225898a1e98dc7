"""What verdicts amount to: exit codes, what was required, differences between languages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.errors import InputError
from polybake.generation import LANGUAGES
from polybake.verification.harness.harness_file import Client
from polybake.verification.language_differences import LanguageDifference, language_differences
from polybake.verification.required import required_names, unmet
from polybake.verification.session import Timeouts
from polybake.verification.verdict import Stage, Status, Verdict
from support.samples.sample_report import sample_report

PASS, GONE, NO_GPU = Status.PASS, Status.MISSING_TOOLCHAIN, Status.MISSING_DEVICE


def verdict(status: Status, language: str = "ruby", device: str = "cpu") -> Verdict:
    """A verdict on one stage of a case."""
    return Verdict(language, device, "one", Stage.EMBED, status, "because")


@pytest.mark.parametrize(
    ("statuses", "missing", "code"),
    [
        ([PASS], (), 0),
        *(([PASS, skip], (), 0) for skip in (Status.SKIP_CAPABILITY, GONE, NO_GPU)),
        *(([PASS, status], (), 1) for status in Status if status.failed),
        ([], (), 1),
        ([GONE], (), 1),
        ([PASS, GONE], ("ruby",), 3),
        ([GONE], ("ruby",), 3),
        ([Status.FAIL], ("ruby",), 1),
    ],
)
def test_exit_code(statuses: list[Status], missing: tuple[str, ...], code: int) -> None:
    """A failure is 1, something required that is missing 3, nothing executed 1, the rest 0."""
    verdicts = tuple(verdict(status) for status in statuses)
    assert sample_report(verdicts=verdicts, missing=missing).exit_code() == code


def test_failures_are_these() -> None:
    failed = {status.name for status in Status if status.failed}
    assert failed == {"FAIL", "PROVIDER_FALLBACK", "ERROR", "CRASH", "TIMEOUT"}
    assert sample_report().executed == 2 * 2 * 3  # neither a skip nor the self-check


def test_option_and_variable_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come from the option and from POLYBAKE_REQUIRE; spaces and empty parts are ignored."""
    own = Client(language="tiny", folder=Path(), run=("x",))
    assert required_names([], []) == frozenset()
    monkeypatch.setenv("POLYBAKE_REQUIRE", "node, tiny,,cuda")
    assert required_names(["ruby", "node"], [own]) == {"ruby", "node", "tiny", "cuda"}
    monkeypatch.setenv("POLYBAKE_REQUIRE", "rubby")
    says = f"'rubby' is unknown; choose among: {', '.join(LANGUAGES)}, tiny, cpu, cuda"
    with pytest.raises(InputError, match=says):
        required_names([], [own])


RUBY = verdict(PASS)


@pytest.mark.parametrize(
    ("required", "verdicts", "sentence"),
    [
        ("ruby", [RUBY, verdict(GONE)], f"ruby is required, but ruby on cpu is {GONE}: because"),
        ("ruby", [RUBY, verdict(Status.SKIP_CAPABILITY)], "ruby is required, but ruby on cpu is "),
        ("ruby", [verdict(PASS, "node")], "ruby is required, but no client ran it"),
        ("cuda", [RUBY, verdict(NO_GPU, device="cuda")], "cuda is required, but ruby on cuda is"),
        ("ruby", [RUBY, verdict(NO_GPU, device="cuda")], None),
        ("cpu", [RUBY, verdict(NO_GPU, device="cuda")], None),
        ("ruby", [verdict(Status.CRASH)], None),  # it is there; its verdict says the rest
        ("ruby", [replace(verdict(Status.ERROR), asked=False)], None),  # it did not start
    ],
)
def test_what_is_required_must_run(
    required: str, verdicts: list[Verdict], sentence: str | None
) -> None:
    """A language or device that was skipped in any stage is named with the reason."""
    found = unmet([required], verdicts)
    assert len(found) == (sentence is not None)
    assert all(one.startswith(sentence or "") for one in found)


def rows(*values: float) -> np.ndarray:
    """float32 rows of two elements."""
    return np.array([[0.0, value] for value in values], dtype=np.float32)


def test_each_pair_has_its_largest_difference() -> None:
    """Pairs are compared row by row over the cases that both have; without such they are not."""
    vectors = {
        "ruby": {"a": rows(1.0), "b": rows(0.0, 0.5)},
        "node": {"a": rows(1.0), "b": rows(0.0, 0.25), "c": rows(9.0)},
        "csharp": {"a": rows(0.0), "b": rows(0.0, 0.25)},
    }
    assert list(language_differences("cpu", vectors)) == [
        LanguageDifference("cpu", ("csharp", "node"), 1.0, "a", 0),
        LanguageDifference("cpu", ("csharp", "ruby"), 1.0, "a", 0),
        LanguageDifference("cpu", ("node", "ruby"), 0.25, "b", 1),
    ]
    for others in ({}, {"node": {"b": rows(1.0)}}):
        assert not list(language_differences("cpu", {"ruby": {"a": rows(1.0)}, **others}))


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e9])
def test_an_impossible_time_is_refused(seconds: float) -> None:
    """What reads the whole file may take twice as long as an answer, and each has an end."""
    assert (Timeouts.of(5).answer, Timeouts.of(5).load) == (5, 10)
    assert Timeouts.of(60.0) == Timeouts()
    assert Timeouts.of(240).stop == 40
    with pytest.raises(InputError, match=r"timeout \S+: expected seconds above 0, at most 86400"):
        Timeouts.of(seconds)


@pytest.mark.parametrize(("device", "row"), [("cpu", "on the CPU"), ("cuda", "on CUDA")])
def test_documented_limits_are_in_force(repository: Path, device: str, row: str) -> None:
    """The table of limits in docs/tolerances.md has the numbers that fixtures carry."""
    lines = (repository / "docs" / "tolerances.md").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith("| float32") and row in line]
    max_abs, one_minus_cosine = (float(cell) for cell in line.strip("|").split("|")[1:])
    tolerance = TOLERANCES[device]
    assert (tolerance.max_abs, tolerance.one_minus_cosine) == (max_abs, one_minus_cosine)
