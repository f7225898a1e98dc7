"""The manifest: names that every language can use, and an identity that only vectors change."""

from __future__ import annotations

import pytest

from polybake.base.modelfile.manifest import (
    Contract,
    Input,
    Output,
    checked_name,
    fingerprint,
)


def contract(**changes: object) -> Contract:
    fields: dict[str, object] = {
        "inputs": (Input(name="input_ids", feed="input_ids"),),
        "output": Output(name="sentence_embedding", dimension=3),
        "vocab_size": 5,
        "max_length": 8,
        "pad_id": 0,
    }
    return Contract.model_validate(fields | changes)


@pytest.mark.parametrize("name", ["", "A", "1a", "a--b", "a-", "-a", "a_b", "a b", "é", "a" * 51])
def test_names_that_no_language_can_use(name: str) -> None:
    """They are refused with what was expected; others are taken as they are."""
    for good in ("a", "all-minilm-l6-v2", "e5", "a" * 50):
        assert checked_name(good) == good
    with pytest.raises(ValueError, match="cannot become a package name; expected at most 50"):
        checked_name(name)


def test_the_canonical_contract_is_sorted_ascii_json() -> None:
    """Keys are sorted, white space is gone, other scripts are escaped."""
    text = contract(prompts={"b": "é", "a": ""}).canonical()
    assert '"prompts":{"a":"","b":"\\u00e9"}' in text
    assert text.startswith('{"default_prompt":null,"inputs":[{"dtype":"int64","feed":')


def test_the_fingerprint_covers_graph_tokenizer_and_contract() -> None:
    """Any change to a vector, or to what the graph is fed, is another fingerprint."""
    changes = ({}, {"max_length": 9}, {"pad_id": 1}, {"pad_side": "left"}, {"prompts": {"q": "q "}})
    found = {fingerprint("t", "k", contract(**change)) for change in changes}
    found |= {fingerprint(*pair, contract()) for pair in [("u", "k"), ("t", "l")]}
    assert len(found) == len(changes) + 2
