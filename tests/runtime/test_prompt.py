"""The choice of a prompt."""

from __future__ import annotations

import pytest

from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import InputError
from polybake.runtime.prompt import Prompt


def chosen(prompt: Prompt, *names: str, default: str | None = None) -> str | None:
    contract = Contract(
        inputs=(Input(name="input_ids", feed="input_ids"),),
        output=Output(name="out", dimension=1),
        vocab_size=1,
        max_length=1,
        pad_id=0,
        prompts=dict.fromkeys(names, "x"),
        default_prompt=default,
    )
    return prompt.contract(contract).default_prompt


def test_a_name_and_the_default() -> None:
    """A call that names no prompt takes the model's default, if there is one."""
    assert chosen(Prompt(), "query") is None
    assert chosen(Prompt(), "query", default="query") == "query"
    assert chosen(Prompt("other"), "query", "other", default="query") == "other"


def test_roles_are_those_of_the_clients() -> None:
    """A role without a prompt takes none, not even the default."""
    query, document = Prompt(role="query"), Prompt(role="document")
    assert chosen(query, "document", "query", default="document") == "query"
    assert chosen(query, "document", default="document") is None
    assert chosen(document, "corpus", "passage", "query") == "passage"
    assert chosen(document, "query", default="query") is None


def test_an_unknown_name_names_the_choices() -> None:
    """The choices are listed if there are any."""
    with pytest.raises(InputError, match="unknown prompt 'x'; choose one of: query, document"):
        chosen(Prompt("x"), "query", "document")
    with pytest.raises(InputError, match="unknown prompt 'x'; leave it out"):
        chosen(Prompt("x"))


def test_what_would_be_ignored_is_refused() -> None:
    """A name beside a role is refused, and so is an unknown role."""
    with pytest.raises(InputError, match="prompt 'x' and role 'query' exclude each other"):
        Prompt("x", "query")
    with pytest.raises(InputError, match="unknown role 'queries'; choose one of: query, document"):
        Prompt(role="queries")  # type: ignore[arg-type]
