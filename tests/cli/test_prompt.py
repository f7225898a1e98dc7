"""The prompt that the options ask for."""

from __future__ import annotations

import pytest

from polybake.cli.prompt import wanted_prompt
from polybake.errors import InputError
from polybake.runtime.prompt import Prompt


def test_what_is_asked_for() -> None:
    """A prompt is chosen by name, by role or by default; the empty name counts as a name."""
    assert wanted_prompt(None, query=False, document=False) == Prompt()
    assert wanted_prompt("passage", query=False, document=False) == Prompt("passage")
    assert wanted_prompt("", query=False, document=False) == Prompt("")
    assert wanted_prompt(None, query=True, document=False) == Prompt(role="query")
    assert wanted_prompt(None, query=False, document=True) == Prompt(role="document")


@pytest.mark.parametrize(
    ("prompt", "query", "document"),
    [("", True, False), ("a", False, True), (None, True, True), ("a", True, True)],
)
def test_one_at_most(prompt: str | None, query: bool, document: bool) -> None:
    with pytest.raises(InputError, match="exclude each other; give one of them"):
        wanted_prompt(prompt, query=query, document=document)
