"""Languages and devices that must not be skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.generation import LANGUAGES
from polybake.verification.harness.harness_file import Client
from polybake.verification.required import required_names, unmet
from polybake.verification.verdict import Stage, Status, Verdict

OWN = Client(language="tiny", folder=Path(), run=("x",))


def verdict(language: str, status: Status, device: str = "cpu") -> Verdict:
    """A verdict on one stage."""
    return Verdict(language, device, "one", Stage.EMBED, status, "because")


def test_option_and_variable_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come from the option and from POLYBAKE_REQUIRE; spaces and empty parts are ignored."""
    monkeypatch.setenv("POLYBAKE_REQUIRE", "node, tiny,,cuda")
    assert required_names(["ruby", "node"], [OWN]) == {"ruby", "node", "tiny", "cuda"}


def test_nothing_is_required_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is required unless the option or the variable gives one."""
    monkeypatch.delenv("POLYBAKE_REQUIRE", raising=False)
    assert required_names([], []) == frozenset()


def test_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt language is an error that lists the choices."""
    monkeypatch.setenv("POLYBAKE_REQUIRE", "rubby")
    says = f"'rubby' is unknown; choose among: {', '.join(LANGUAGES)}, tiny, cpu, cuda"
    with pytest.raises(InputError, match=says):
        required_names([], [OWN])


@pytest.mark.parametrize("status", [Status.MISSING_TOOLCHAIN, Status.SKIP_CAPABILITY])
def test_skipped_language_is_unmet(status: Status) -> None:
    """A required language that was skipped in any stage is named with the reason."""
    verdicts = [verdict("ruby", Status.PASS), verdict("ruby", status)]
    assert unmet(["ruby"], verdicts) == (f"ruby is required, but ruby on cpu is {status}: because",)


def test_a_language_without_streams_is_met() -> None:
    """Streams are an optional part, which a required language may lack."""
    skipped = Verdict("ruby", "cpu", "session", Stage.STREAM, Status.SKIP_CAPABILITY, "because")
    assert unmet(["ruby"], [verdict("ruby", Status.PASS), skipped]) == ()


def test_language_without_a_client_is_unmet() -> None:
    """A required language that no client has is named."""
    (sentence,) = unmet(["ruby"], [verdict("node", Status.PASS)])
    assert sentence.startswith("ruby is required, but no client ran it")


def test_missing_device_is_unmet_only_where_it_is_required() -> None:
    """Ruby is met by the CPU; cuda is not."""
    verdicts = [verdict("ruby", Status.PASS), verdict("ruby", Status.MISSING_DEVICE, "cuda")]
    assert unmet(["ruby", "cpu"], verdicts) == ()
    assert len(unmet(["cuda"], verdicts)) == 1


def test_failure_is_not_unmet() -> None:
    """A language that ran and failed is there; its verdict says the rest."""
    assert unmet(["ruby"], [verdict("ruby", Status.CRASH)]) == ()
