"""What settings ask of a tokenizer that is made of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.old_tokenizers import made, write_old
from models.folders.tiny_folders import write_json
from polybake.baking.sources.tokenizer_files.made_tokenizer import make_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

FLAGS = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}


def count(folder: Path) -> int:
    """The ids of BERT's vocabulary."""
    return len((write_old(folder, "BertTokenizer") / "vocab.txt").read_text("utf-8").splitlines())


def test_added_tokens_follow_the_vocabulary(tmp_path: Path) -> None:
    """In the order of their ids; one that settings name is special, and found as it stands."""
    first = count(tmp_path)
    write_json(tmp_path / "added_tokens.json", {"<N>": first + 1, "Big Boat": first})
    write_json(tmp_path / "special_tokens_map.json", {"mask_token": "<N>"})
    tokenizer = made(tmp_path, "BertTokenizer")
    added = tokenizer.get_added_tokens_decoder()
    assert [added[first].content, added[first + 1].content] == ["Big Boat", "<N>"]
    assert (added[first].special, added[first].normalized) == (False, True)
    assert (added[first + 1].special, added[first + 1].normalized) == (True, False)
    assert tokenizer.encode("big boat", add_special_tokens=False).ids == [first]


def test_added_tokens_decoder_stands_alone(tmp_path: Path) -> None:
    """Beside it neither of the older files is read."""
    first = count(tmp_path)
    write_json(tmp_path / "added_tokens.json", {"not read": first})
    write_json(tmp_path / "special_tokens_map.json", {"cls_token": "not read"})
    token = {"content": "<n>", **FLAGS, "rstrip": True, "special": True}
    tokenizer = made(tmp_path, "BertTokenizer", added_tokens_decoder={str(first): token})
    found = tokenizer.encode("<n> the")
    assert [found.tokens[0], *found.ids[1:2], *found.tokens[2:]] == ["[CLS]", first, "the", "[SEP]"]
    assert tokenizer.get_added_tokens_decoder()[first].rstrip
    assert tokenizer.token_to_id("not read") is None


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"do_basic_tokenize": False}, "do_basic_tokenize: Input should be true, found false"),
        ({"never_split": ["the"]}, "never_split: .*at most 0 items"),
        ({"clean_text": False}, "clean_text: Input should be true"),
        ({"wordpieces_prefix": "@@"}, "wordpieces_prefix: Input should be '##', found '@@'"),
        ({"sp_model_kwargs": {"enable_sampling": True}}, "sp_model_kwargs: .*at most 0 items"),
        ({"remove_space": False}, "remove_space: Input should be true"),
        ({"extra_ids": 1001}, "extra_ids: .*less than or equal to 1000"),
        ({"extra_special_tokens": {"image": "<image>"}}, "extra_special_tokens: .*valid array"),
        ({"added_tokens_decoder": {"x": {"content": "a"}}}, "added_tokens_decoder.*integer"),
        ({"cls_token": None}, "cls_token = null, expected a token"),
        ({"unk_token": None}, "unk_token = null, expected a token"),
        ({"do_lower_case": 1}, "do_lower_case: Input should be a valid boolean"),
    ],
)
def test_what_is_not_obeyed_is_refused(
    settings: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """The message names the file, the key and the value."""
    folder = ModelFolder.at(write_old(tmp_path, "BertTokenizer", **settings))
    with pytest.raises(InputError, match=rf"tokenizer_config\.json: {shown}"):
        make_tokenizer(folder)


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        ({"a\u0301b": 1000}, "the added token 'a\u0301b' has the id 1000 in its files, expected"),
        ({"the": 0}, "the added token 'the' has the id 0 in its files, expected 5"),
        ({"x y": 1000, "y z": 1000}, "two tokens have one id"),
        ({"x y": -1}, "the id -1 in its files, expected"),
        ({"x" * 1025: 1000}, "an added token has 1025 characters, expected at most 1024"),
        ({"x y": "1"}, r"x y: Input should be a valid integer"),
    ],
)
def test_added_ids_must_be_those_that_follow(
    ids: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """A model has a row for each id, so no token moves in silence."""
    folder = write_old(tmp_path, "BertTokenizer")
    write_json(folder / "added_tokens.json", ids)
    with pytest.raises(InputError, match=shown):
        make_tokenizer(ModelFolder.at(folder))


def test_a_token_that_transformers_drops_is_refused(tmp_path: Path) -> None:
    """special_tokens_map.json alone lists it, and the tokenizer's file has tokens of its own."""
    folder = write_old(tmp_path, "XLMRobertaTokenizer")
    write_json(folder / "special_tokens_map.json", {"additional_special_tokens": ["<x>"]})
    with pytest.raises(InputError, match=r"special_tokens_map\.json: transformers drops .*'<x>'"):
        make_tokenizer(ModelFolder.at(folder))
