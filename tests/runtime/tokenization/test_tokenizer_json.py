"""tokenizer.json, read and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer_json import read_tokenizer, truncation

SPLIT = {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False}


def test_is_written_as_it_was_read(tmp_path: Path) -> None:
    """Every key, number and order stays, also of components that only tokenizers knows."""
    write_tokenizer(tmp_path)
    nested = {"type": "Sequence", "pretokenizers": [SPLIT, {"type": "Whitespace"}]}
    changes: dict[str, object] = {"pre_tokenizer": nested, "normalizer": {"type": "NFC"}}
    change_json(tmp_path / "tokenizer.json", padding=None, **changes)
    written = (tmp_path / "tokenizer.json").read_text()
    text, tokenizer = read_tokenizer(ModelFolder.at(tmp_path)).make(ModelFolder.at(tmp_path))
    assert text == json.dumps(json.loads(written), separators=(",", ":"))
    assert tokenizer.token_to_id("boat") is not None


def test_keeps_scores_to_the_last_digit(tmp_path: Path) -> None:
    """A Unigram model's scores decide how a text is cut."""
    vocab = [["<unk>", 0.0], ["a", -1.2345678901234567e-5], ["b", -12.345678901234567]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}
    write_json(tmp_path / "tokenizer.json", {"version": "1.0", "model": model})
    text, _ = read_tokenizer(ModelFolder.at(tmp_path)).make(ModelFolder.at(tmp_path))
    assert json.loads(text) == {"version": "1.0", "model": model}


def test_sequences_are_read_through(tmp_path: Path) -> None:
    """What stands in a Sequence of Sequences is found, in order."""
    write_tokenizer(tmp_path)
    inner = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}
    outer = {"type": "Sequence", "normalizers": [{"type": "Strip"}, inner]}
    change_json(tmp_path / "tokenizer.json", normalizer=outer, pre_tokenizer=None)
    read = read_tokenizer(ModelFolder.at(tmp_path))
    assert [part.type for part in read.parts("normalizer")] == ["Strip", "NFC", "Lowercase"]
    assert read.parts("pre_tokenizer") == []


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"truncation": {"max_length": 0}}, r"truncation\.max_length: .* greater than 0, found 0"),
        ({"truncation": {"direction": "up"}}, r"truncation\.direction: .*'Left' or 'Right'"),
        ({"normalizer": "NFC"}, "normalizer: Input should be an object, found 'NFC'"),
        ({"added_tokens": ["a"]}, r"added_tokens\[0\]: .*, found 'a'"),
        ({"model": []}, "model: Input should be an object"),
    ],
)
def test_names_what_is_damaged(changes: dict[str, object], shown: str, tmp_path: Path) -> None:
    """The key is named, where tokenizers would say that nothing matched."""
    write_tokenizer(tmp_path)
    change_json(tmp_path / "tokenizer.json", **changes)
    with pytest.raises(InputError, match=rf"tokenizer\.json: {shown}"):
        read_tokenizer(ModelFolder.at(tmp_path))


def test_truncation_of_either_side() -> None:
    """All that tokenizers wants is written."""
    assert truncation(5, "left").model_dump(exclude_unset=True) == {
        "direction": "Left",
        "max_length": 5,
        "strategy": "LongestFirst",
        "stride": 0,
    }
