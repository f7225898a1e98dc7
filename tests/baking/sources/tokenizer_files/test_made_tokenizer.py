"""The tokenizer.json of a folder that has none; tests/oracle compares each with transformers'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.old_tokenizers import OLD, write_old
from models.folders.sentencepiece_files import CONTROL, UNKNOWN, model
from models.folders.tiny_folders import write_json, write_tokenizer
from polybake.baking.sources.tokenizer import open_tokenizer, with_tokenizer
from polybake.baking.sources.tokenizer_files.byte_fallback import merges
from polybake.baking.sources.tokenizer_files.made_tokenizer import make_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


def test_merges_are_all_pairs_that_give_a_piece() -> None:
    """In the order of the piece's id, then of the first part's length."""
    ids = {piece: number for number, piece in enumerate(["abc", "a", "bc", "ab", "c", "b"])}
    assert merges(ids) == [("a", "bc"), ("ab", "c"), ("b", "c"), ("a", "b")]


@pytest.mark.parametrize(
    ("declared", "config", "expected"),
    [
        ("BertTokenizerFast", {}, "vocab.txt"),
        (None, {"model_type": "distilbert"}, "vocab.txt"),
        (None, {"model_type": "bert", "tokenizer_class": "RobertaTokenizer"}, "vocab.json"),
        ("RobertaTokenizer", {"model_type": "bert"}, "vocab.json"),
        (None, {"model_type": "roberta"}, "vocab.json"),
    ],
)
def test_the_class_decides(
    declared: str | None, config: dict[str, str], expected: str, tmp_path: Path
) -> None:
    """The one that the settings name, else the model's, whatever files there are."""
    OLD["RobertaTokenizer"].write(write_old(tmp_path, "BertTokenizer", tokenizer_class=declared))
    write_json(tmp_path / "config.json", config)
    assert f"made of {expected}" in make_tokenizer(ModelFolder.at(tmp_path)).note


@pytest.mark.parametrize(
    ("declared", "config", "shown"),
    [
        (None, {}, r"no tokenizer\.json beside vocab\.txt, .*TokenizersBackend"),
        ("NewTokenizer", {}, "NewTokenizer.* not known; write it with"),
        ("PreTrainedTokenizerFast", {"model_type": "bert"}, "PreTrainedTokenizer makes"),
        ("BertTokenizer", {"model_type": "modernbert"}, "TokenizersBackend makes"),
        ("BertJapaneseTokenizer", {}, "BertJapaneseTokenizer, is Python code"),
        ("RobertaTokenizer", {}, r"no vocab\.json and merges\.txt of which RobertaTokenizer"),
        ("T5TokenizerFast", {}, r"no spiece\.model of which T5Token"),
    ],
)
def test_what_cannot_be_made_is_refused(
    declared: str | None, config: dict[str, str], shown: str, tmp_path: Path
) -> None:
    """The message names the class, whatever keys of its own it has."""
    own = {"mecab_kwargs": {"mecab_dic": "unidic_lite"}}
    write_old(tmp_path, "BertTokenizer", tokenizer_class=declared, **own)
    write_json(tmp_path / "config.json", config)
    with pytest.raises(InputError, match=shown):
        make_tokenizer(ModelFolder.at(tmp_path))


def test_a_folder_without_any_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no tokenizer\.json; write it with: python"):
        make_tokenizer(ModelFolder.at(tmp_path))


TWICE = {"x y": 1000, "y z": 1000}


@pytest.mark.parametrize(
    ("name", "file", "settings", "shown"),
    [
        ("BertTokenizer", "", {"do_basic_tokenize": False}, "do_basic_tokenize: .* found false"),
        ("BertTokenizer", "", {"never_split": ["the"]}, "never_split: .*at most 0 items"),
        ("BertTokenizer", "", {"clean_text": False}, "clean_text: Input should be true"),
        ("BertTokenizer", "", {"wordpieces_prefix": "@@"}, "wordpieces_prefix: .*'##', found '@@'"),
        ("BertTokenizer", "", {"sp_model_kwargs": {"alpha": 1}}, "sp_model_kwargs: .*0 items"),
        ("BertTokenizer", "", {"remove_space": False}, "remove_space: Input should be true"),
        ("BertTokenizer", "", {"extra_ids": 1001}, "extra_ids: .*or equal to 1000"),
        (
            "BertTokenizer",
            "",
            {"extra_special_tokens": {"a": "b"}},
            "extra_special_tokens: .*array",
        ),
        (
            "BertTokenizer",
            "",
            {"added_tokens_decoder": {"x": {"content": "a"}}},
            "added_tokens_decoder.*integer",
        ),
        ("BertTokenizer", "", {"unk_token": None}, "unk_token = null, expected a token"),
        ("BertTokenizer", "", {"do_lower_case": 1}, "do_lower_case: .*valid boolean"),
        ("BertTokenizer", "", {"sep_token": "a:b"}, r"vocab\.txt make no tokenizer"),
        ("LlamaTokenizer", "", {"add_bos_token": None}, "no add_bos_token, which transformers 4"),
        ("GemmaTokenizer", "", {"add_bos_token": None}, "no add_bos_token, which transformers 4"),
        ("BertTokenizer", "added_tokens", {"a\u0301b": 1000}, "'a\u0301b' has the id 1000"),
        (
            "BertTokenizer",
            "added_tokens",
            {"the": 0},
            "'the' has the id 0 in its files, expected 5",
        ),
        ("BertTokenizer", "added_tokens", TWICE, "two tokens have one id"),
        ("BertTokenizer", "added_tokens", {"x y": -1}, "the id -1 in its files"),
        ("BertTokenizer", "added_tokens", {"x y": "1"}, r"x y: .*valid integer"),
        (
            "XLMRobertaTokenizer",
            "special_tokens_map",
            {"additional_special_tokens": ["<x>"]},
            r"special_tokens_map\.json: transformers drops .*'<x>'",
        ),
    ],
)
def test_what_is_not_obeyed_is_refused(
    name: str, file: str, settings: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """A model has a row for each id, so no token moves in silence."""
    write_old(tmp_path, name, **({} if file else settings))
    if file:
        write_json(tmp_path / f"{file}.json", settings)
    with pytest.raises(InputError, match=shown):
        make_tokenizer(ModelFolder.at(tmp_path))


@pytest.mark.parametrize(
    ("name", "pieces", "shown"),
    [
        ("XLMRobertaTokenizer", "<unk> <s> the", "the id 2 to 'the', expected a special"),
        ("CamembertTokenizer", "the", "the id 0 to 'the', expected a special"),
        ("AlbertTokenizer", "<unk> <pad>", "the id 1 to '<pad>', expected '<unk>'"),
        ("T5Tokenizer", "<pad> </s>", "the id 2 to '<extra_id_99>', expected '<unk>'"),
        ("DebertaV2Tokenizer", "<unk>", r"the id 0 to '<unk>', expected '\[UNK\]'"),
        (
            "XLMRobertaTokenizer",
            "<unk> <s> </s> <mask>",
            "the id 5 to '<mask>', .* without the id 4",
        ),
    ],
)
def test_pieces_that_are_not_the_class_s_are_refused(
    name: str, pieces: str, shown: str, tmp_path: Path
) -> None:
    """Transformers would move ids in silence, or take another piece for the unknown one."""
    kinds = {"<unk>": UNKNOWN, "the": 1, "<mask>": 1}
    (file,) = write_old(tmp_path, name).glob("*.model")
    file.write_bytes(model([(one, 0.0, kinds.get(one, CONTROL)) for one in pieces.split()]))
    with pytest.raises(InputError, match=rf"\.model: .*{shown}.*tokenizer_class"):
        make_tokenizer(ModelFolder.at(tmp_path))


def test_older_files_give_what_their_tokenizer_json_gives(tmp_path: Path) -> None:
    """Limit, padding and ids; a tokenizer.json beside them is all that is read."""
    folder = ModelFolder.at(write_old(tmp_path, "BertTokenizer", pad_token="[UNK]"))
    made = open_tokenizer(folder, max_seq_length=4)
    assert (made.max_length, made.pad_id) == (4, 1)
    assert made.encode(["the river the boat"]) == [made.encode(["the river"])[0]]
    assert "made of vocab.txt" in made.note
    (tmp_path / "tokenizer.json").write_text(made.json, encoding="ascii")
    (tmp_path / "vocab.txt").write_bytes(b"\xff")
    read = open_tokenizer(folder, max_seq_length=4)
    assert read.json == made.json
    assert read == made
    assert read.note == ""


def test_a_class_s_own_padding_is_known(tmp_path: Path) -> None:
    """No file names it."""
    assert open_tokenizer(ModelFolder.at(write_old(tmp_path, "XLMRobertaTokenizer"))).pad_id == 1


@pytest.mark.parametrize(
    ("name", "kind"), [("SiglipTokenizer", "bert"), (None, "siglip"), (None, "siglip_text_model")]
)
def test_a_tokenizer_json_of_other_ids_is_refused(
    name: str | None, kind: str, tmp_path: Path
) -> None:
    """One that is published beside a class whose texts SentencePiece normalises."""
    write_tokenizer(tmp_path)
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": name})
    write_json(tmp_path / "config.json", {"model_type": kind})
    with pytest.raises(InputError, match="SiglipTokenizer, is Python code of transformers that no"):
        open_tokenizer(ModelFolder.at(tmp_path))


def test_the_folder_with_a_tokenizer_is_found(tmp_path: Path) -> None:
    """A tokenizer.json wins; without any the first folder is told to lack it."""
    names = ("first", "second", "third")
    for name in names:
        (tmp_path / name).mkdir()
    folders = [ModelFolder.at(tmp_path / name) for name in names]
    assert with_tokenizer(folders) is folders[0]
    write_old(tmp_path / "second", "BertTokenizer")
    assert with_tokenizer(folders) is folders[1]
    write_tokenizer(tmp_path / "third")
    assert with_tokenizer(folders) is folders[2]
