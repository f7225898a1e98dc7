"""The manifest: names that every language can use, and an identity that only vectors change."""

from __future__ import annotations

import pytest

from polybake.base.modelfile.manifest import (
    Contract,
    Input,
    Output,
    checked_name,
    fingerprint,
    parse_manifest,
)
from polybake.errors import InputError


def contract(**changes: object) -> Contract:
    fields: dict[str, object] = {
        "inputs": (Input(name="input_ids", feed="input_ids"),),
        "output": Output(name="sentence_embedding", dimension=3),
        "vocab_size": 5,
        "max_length": 8,
        "pad_id": 0,
    }
    return Contract.model_validate(fields | changes)


@pytest.mark.parametrize("name", ["a", "all-minilm-l6-v2", "e5", "a" * 50])
def test_good_names(name: str) -> None:
    """A name of the pattern is taken as it is."""
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "A", "1a", "a--b", "a-", "-a", "a_b", "a b", "é", "a" * 51])
def test_bad_names(name: str) -> None:
    """A name that no language can use is refused with what was expected."""
    with pytest.raises(ValueError, match="cannot become a package name; expected at most 50"):
        checked_name(name)


def test_the_canonical_contract_is_sorted_ascii_json() -> None:
    """Keys are sorted, white space is gone, other scripts are escaped."""
    text = contract(prompts={"b": "é", "a": ""}).canonical()
    assert '"prompts":{"a":"","b":"\\u00e9"}' in text
    assert text.startswith('{"default_prompt":null,"inputs":[{"dtype":"int64","feed":')


@pytest.mark.parametrize(
    "change",
    [{"max_length": 9}, {"pad_id": 1}, {"pad_side": "left"}, {"prompts": {"q": "q "}}],
)
def test_the_fingerprint_covers_the_contract(change: dict[str, object]) -> None:
    """Any change to what the graph is fed changes the fingerprint."""
    assert fingerprint("t", "k", contract()) != fingerprint("t", "k", contract(**change))


def test_the_fingerprint_covers_graph_and_tokenizer() -> None:
    """Another graph or another tokenizer is another fingerprint."""
    found = {fingerprint(*pair, contract()) for pair in [("t", "k"), ("u", "k"), ("t", "l")]}
    assert len(found) == 3


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x"}', "null", "3"])
def test_what_is_no_manifest_is_refused(text: str) -> None:
    """Anything but a manifest is an InputError, whatever its JSON."""
    with pytest.raises(InputError, match=r"^m\.onnx: "):
        parse_manifest(text, "m.onnx")
