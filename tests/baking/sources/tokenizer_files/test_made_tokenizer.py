"""The tokenizer.json of a folder that has none; tests/oracle compares each with transformers'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tokenizers import Encoding

from models.folders.old_tokenizers import OLD, made, write_old
from models.folders.sentencepiece_files import CONTROL, UNKNOWN, model
from models.folders.tiny_folders import write_json
from polybake.baking.sources.tokenizer_files.byte_fallback import merges
from polybake.baking.sources.tokenizer_files.made_tokenizer import make_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

CAFE = "caf\u00e9s\u4e2d The"
WIDE = "the \uff21"
BOS, EOS = {"add_bos_token": True}, {"add_eos_token": True}
BARE, SPACED = {"add_prefix_space": False}, {"add_prefix_space": True}


def encoded(folder: Path, name: str, *texts: str, **settings: Any) -> tuple[str, Encoding]:
    """The tokens of a text or two, apart by spaces."""
    tokenizer = made(folder, name, **settings)
    found = tokenizer.encode(*texts)
    return " ".join(tokenizer.id_to_token(one) for one in found.ids), found


@pytest.mark.parametrize(
    ("name", "settings", "text", "expected"),
    [
        ("BertTokenizer", {}, CAFE, "[CLS] cafe ##s \u4e2d the [SEP]"),
        ("BertTokenizer", {"strip_accents": False}, CAFE, "[CLS] caf\u00e9 ##s \u4e2d the [SEP]"),
        ("BertTokenizer", {"do_lower_case": False}, CAFE, "[CLS] caf\u00e9 ##s \u4e2d [UNK] [SEP]"),
        ("BertTokenizer", {"tokenize_chinese_chars": False}, CAFE, "[CLS] [UNK] the [SEP]"),
        ("RobertaTokenizer", {}, "the wa", "<s> the \u0120wa </s>"),
        ("RobertaTokenizer", SPACED, "the wa", "<s> \u0120the \u0120wa </s>"),
        ("DebertaTokenizer", {}, "the wa", "[CLS] the \u0120wa [SEP]"),
        ("GPT2Tokenizer", {}, "the wa", "the \u0120wa"),
        ("GPT2Tokenizer", BOS, "the wa", "<|endoftext|> the \u0120wa"),
        ("GPT2Tokenizer", EOS, "the wa", "the \u0120wa <|endoftext|>"),
        ("Qwen2Tokenizer", {}, "the wa", "the \u0120wa"),
        ("Qwen2Tokenizer", {"add_prefix_space": None}, "the wa", "the \u0120wa"),
        ("Qwen2Tokenizer", {}, "e\u0301", "\u00c3 \u00a9"),
        ("RobertaTokenizer", {}, "e\u0301", "<s> e \u00cc \u0123 </s>"),
        ("XLMRobertaTokenizer", {}, WIDE, "<s> \u2581the \u2581 A </s>"),
        ("CamembertTokenizer", {}, WIDE, "<s> \u2581the \u2581 A </s>"),
        ("AlbertTokenizer", {}, WIDE, "[CLS] \u2581the \u2581 a [SEP]"),
        ("T5Tokenizer", {}, WIDE, "\u2581the \u2581 A </s>"),
        ("DebertaV2Tokenizer", {}, WIDE, "[CLS] \u2581the \u2581 [UNK] [SEP]"),
        ("LlamaTokenizer", {}, "theZ the", "<s> \u2581the <0x5A> \u2581the"),
        ("LlamaTokenizer", EOS, "theZ the", "<s> \u2581the <0x5A> \u2581the </s>"),
        ("LlamaTokenizer", {"add_bos_token": False}, "theZ the", "\u2581the <0x5A> \u2581the"),
        ("LlamaTokenizer", BARE, "theZ the", "<s> the <0x5A> \u2581the"),
        ("LlamaTokenizer", {"add_prefix_space": None}, "the", "<s> \u2581the"),
        ("LlamaTokenizer", {"legacy": True}, "</s>the", "<s> </s> \u2581the"),
        ("LlamaTokenizer", {"legacy": False}, "</s>the", "<s> </s> the"),
        ("LlamaTokenizer", {"legacy": None}, "</s>the", "<s> </s> the"),
        ("GemmaTokenizer", {}, "theZ the", "<bos> the <0x5A> \u2581the"),
    ],
)
def test_tokens_of_a_text(
    name: str, settings: dict[str, Any], text: str, expected: str, tmp_path: Path
) -> None:
    assert encoded(tmp_path, name, text, **settings)[0] == expected


@pytest.mark.parametrize(
    ("name", "expected", "types"),
    [
        ("BertTokenizer", "[CLS] the [SEP] the [SEP]", "00011"),
        ("MPNetTokenizer", "<s> the </s> </s> the </s>", "000000"),
        ("RobertaTokenizer", "<s> the </s> </s> the </s>", "000000"),
        ("DebertaTokenizer", "[CLS] the [SEP] [SEP] the [SEP]", "000000"),
        ("XLMRobertaTokenizer", "<s> \u2581the </s> </s> \u2581the </s>", "000000"),
        ("CamembertTokenizer", "<s> \u2581the </s> </s> \u2581the </s>", "000000"),
        ("AlbertTokenizer", "[CLS] \u2581the [SEP] \u2581the [SEP]", "00011"),
        ("T5Tokenizer", "\u2581the </s> \u2581the </s>", "0000"),
        ("DebertaV2Tokenizer", "[CLS] \u2581the [SEP] \u2581the [SEP]", "00011"),
    ],
)
def test_tokens_and_types_of_a_pair(name: str, expected: str, types: str, tmp_path: Path) -> None:
    tokens, found = encoded(tmp_path, name, "the", "the")
    assert (tokens, "".join(map(str, found.type_ids))) == (expected, types)


def test_a_mask_takes_the_space_before(tmp_path: Path) -> None:
    """MPNet's alone; BERT's leaves it."""
    _, found = encoded(tmp_path, "MPNetTokenizer", "the <mask>")
    assert found.tokens[2] == " <mask>"


def test_qwen_cuts_digits(tmp_path: Path) -> None:
    cut = made(tmp_path, "Qwen2Tokenizer").pre_tokenizer.pre_tokenize_str("12")
    assert [piece for piece, _ in cut] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("XLMRobertaTokenizer", "<s> <pad> </s> <unk> \u2581"),
        ("CamembertTokenizer", "<s>NOTUSED <pad> </s>NOTUSED <unk> <unk>NOTUSED <s> </s> \u2581"),
    ],
)
def test_ids_are_moved_as_in_fairseq(name: str, expected: str, tmp_path: Path) -> None:
    """XLM-R's and CamemBERT's own tokens come first, and a mask last."""
    tokenizer = made(tmp_path, name)
    first = [tokenizer.id_to_token(number) for number in range(len(expected.split()))]
    assert first == expected.split()
    assert tokenizer.token_to_id("<mask>") == tokenizer.get_vocab_size() - 1


def test_t5_counts_its_extra_ids_down(tmp_path: Path) -> None:
    """As many as its settings say, behind the file's pieces."""
    tokenizer = made(tmp_path, "T5Tokenizer", extra_ids=3)
    count = tokenizer.get_vocab_size()
    last = [tokenizer.id_to_token(number) for number in range(count - 3, count)]
    assert last == ["<extra_id_2>", "<extra_id_1>", "<extra_id_0>"]


def test_merges_are_all_pairs_that_give_a_piece() -> None:
    """In the order of the piece's id, then of the first part's length."""
    ids = {piece: number for number, piece in enumerate(["abc", "a", "bc", "ab", "c", "b"])}
    assert merges(ids) == [("a", "bc"), ("ab", "c"), ("b", "c"), ("a", "b")]


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
    flags = {"lstrip": False, "rstrip": True, "normalized": False, "single_word": False}
    decoder = {str(first): {"content": "<n>", "special": True, **flags}}
    tokenizer = made(tmp_path, "BertTokenizer", added_tokens_decoder=decoder)
    assert tokenizer.encode("<n> the").tokens[::2] == ["[CLS]", "the"]
    assert tokenizer.get_added_tokens_decoder()[first].rstrip
    assert tokenizer.token_to_id("not read") is None


@pytest.mark.parametrize("name", OLD)
def test_the_note_names_files_and_class(name: str, tmp_path: Path) -> None:
    """On one line, for the user."""
    note = make_tokenizer(ModelFolder.at(write_old(tmp_path, name))).note
    files = {path.name for path in tmp_path.iterdir()} - {"tokenizer_config.json"}
    assert note.endswith(f"as {name} makes it")
    assert all(file in note for file in files)


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
