"""Tokenizers made of files beside transformers, which makes them of the same files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import normalizers

from models.folders.bert import KINDS
from models.folders.old_tokenizers import OLD, write_old
from models.folders.saved import save
from models.folders.tiny_folders import write_json
from polybake.baking.golden.texts import builtin_cases
from polybake.baking.sources.tokenizer import open_tokenizer
from polybake.baking.sources.tokenizer_files.sentencepiece_model import read_sentencepiece
from polybake.base.files.model_folder import ModelFolder
from support.oracle.agreement import agreement_with_source, bake_source
from support.oracle.proven import Judged, JudgedTokenizer
from support.oracle.record import made_tokenizer

Json = dict[str, Any]

#: Beside the texts of the golden cases: every kind of white space, width, accent, and more.
TEXTS = [
    "\uff21\uff22 \ufb01x \u2460 \u3000x\u00a0y e\u0301e \u00ad",
    "  two  spaces \t tab\r\nline\n\n end  ",
    "``quoted'' 12,5 a\u0300\u0316b \u0130I\u0131 \u1e9e\u00df",
    "\u200b\u200d\ufeff\ufffd\x00\x7f \U0001f469\u200d\U0001f680 \U0001d518 \u4e2d\u6587",
    "\u2581the \u2581\u2581 [MASK]<mask> </s><s>x<pad> <|endoftext|> <extra_id_0><s2> NOTUSED",
    "the water" * 9 + "!?",
    "x" * 120,
]
#: Classes that are another class by another name.
_SAME = {
    *("ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer"),
    *("DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer", "LxmertTokenizer"),
    *("MobileBertTokenizer", "SqueezeBertTokenizer", "BartTokenizer", "LEDTokenizer"),
    "LongformerTokenizer",
}
DISTINCT = sorted(OLD.keys() - _SAME)
TOKEN: Json = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}

#: Settings, by what they are for: keys of tokenizer_config.json, and other files.
SETTINGS: dict[str, tuple[Json, Json]] = {
    "none": ({}, {}),
    "a list": ({"extra_special_tokens": ["<n>"]}, {}),
    "an older list": ({"additional_special_tokens": ["<n>", "boat"]}, {}),
    "an empty list": ({"extra_special_tokens": []}, {}),
    "no list": ({"additional_special_tokens": None}, {}),
    "one of its own": ({"image_token": "<image>"}, {}),
    "a new token": ({"mask_token": "<new>"}, {}),
    "with spaces": ({"mask_token": {"__type": "AddedToken", "content": "<n>", **TOKEN}}, {}),
    "edges": ({"add_bos_token": True, "add_eos_token": True}, {}),
    "lower case": ({"do_lower_case": True}, {}),
    "both cases": ({"do_lower_case": False, "strip_accents": True}, {}),
    "as it stands": (
        {"do_lower_case": False, "keep_accents": True, "tokenize_chinese_chars": False},
        {},
    ),
    "a prefix": ({"add_prefix_space": True}, {}),
    "no prefix": ({"add_prefix_space": False}, {}),
    "legacy": ({"legacy": True, "split_by_punct": True, "extra_ids": 3}, {}),
    "a map": (
        {},
        {"special_tokens_map.json": {"pad_token": {"content": "boat", **TOKEN, "lstrip": True}}},
    ),
}


def written(folder: Path, name: str, *more: Json) -> Path:
    """Write a class's folder with settings, and with files."""
    settings, files = (*more, {}, {})[:2]
    write_old(folder, name, **settings)
    for file, content in {"config.json": {"model_type": "bert"}, **files}.items():
        write_json(folder / file, content)
    return folder


@pytest.mark.parametrize("name", sorted(OLD))
def test_every_class_is_the_library_s(
    name: str, tmp_path: Path, judged_tokenizer: JudgedTokenizer
) -> None:
    """All of tokenizer.json is equal, and so are the ids of texts and pairs."""
    folder = written(tmp_path, name)
    library = transformers.AutoTokenizer.from_pretrained(folder)
    baked = open_tokenizer(ModelFolder.at(folder))
    cases = builtin_cases(prompts={}, token_count=baked.count, max_length=baked.max_length)
    texts = [*TEXTS, *(text for case in cases for text in case.texts)]
    assert baked.encode(texts) == library(texts, truncation=True, max_length=60)["input_ids"]
    second = texts[::-1]
    pairs = baked.untruncated.encode_batch([*zip(texts, second, strict=True)])
    expected = library(texts, second, return_token_type_ids=True)
    assert [pair.ids for pair in pairs] == expected["input_ids"]
    assert [pair.type_ids for pair in pairs] == expected["token_type_ids"]
    judged_tokenizer(folder, library)


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("name", DISTINCT)
def test_settings_are_obeyed_as_by_the_library(
    name: str, kind: str, tmp_path: Path, judged_tokenizer: JudgedTokenizer
) -> None:
    """All of tokenizer.json is equal whatever tokenizer_config.json and other files say."""
    folder = written(tmp_path, name, *SETTINGS[kind])
    judged_tokenizer(folder, transformers.AutoTokenizer.from_pretrained(folder))


@pytest.mark.parametrize("where", ["added_tokens_decoder", "added_tokens.json"])
@pytest.mark.parametrize("name", DISTINCT)
def test_added_tokens_keep_their_ids_and_flags(
    name: str, where: str, tmp_path: Path, judged_tokenizer: JudgedTokenizer
) -> None:
    """Tokens behind the vocabulary, from either file, one of them special."""
    count = len(vocabulary(written(tmp_path / "plain", name)))
    if where == "added_tokens.json":
        settings: Json = {"additional_special_tokens": ["<n>"]}
        files = {where: {"<n>": count + 1, "Boat!": count}}
    else:
        first = {"content": "Boat!", **TOKEN, "normalized": True, "special": False}
        second = {"content": "<n>", **TOKEN, "lstrip": True, "special": True}
        settings = {where: {str(count + 1): second, str(count): first}}
        files = {"added_tokens.json": {"not read": 3}}
    folder = written(tmp_path / "added", name, settings, files)
    library = transformers.AutoTokenizer.from_pretrained(folder)
    assert library.convert_tokens_to_ids(["Boat!", "<n>"]) == [count, count + 1]
    judged_tokenizer(folder, library)


def vocabulary(folder: Path) -> list[Any]:
    """The vocabulary without added tokens."""
    return list(made_tokenizer(folder)["model"]["vocab"])


#: A folder with files in place of the tokenizer.json of a model of this kind.
MODELS = {"bert": "vocab.txt", "roberta": "vocab.json"}


@pytest.mark.parametrize("kind", MODELS)
def test_bakes_the_same_file_as_with_tokenizer_json(
    kind: str, tmp_path: Path, judged: Judged
) -> None:
    """Every byte of the model file is that of the same folder with transformers' tokenizer.json."""
    saved = save(tmp_path / "first", *KINDS[kind]())
    old = Path(shutil.copytree(saved, tmp_path / "second" / "saved"))
    data = json.loads((saved / "tokenizer.json").read_text("utf-8"))["model"]
    if kind == "bert":
        (old / "vocab.txt").write_text("\n".join(data["vocab"]), encoding="utf-8")
    else:
        write_json(old / "vocab.json", data["vocab"])
        merges = "".join(f"{' '.join(pair)}\n" for pair in data["merges"])
        (old / "merges.txt").write_text(merges, encoding="utf-8")
    (old / "tokenizer.json").unlink()
    transformers.AutoTokenizer.from_pretrained(old).save_pretrained(saved)
    baked = [bake_source(place, place.parent / "tiny.onnx") for place in (saved, old)]
    assert baked[0].read_bytes() == baked[1].read_bytes()
    judged(agreement_with_source(old, baked[1]))


def test_no_normalizer_stands_for_siglips(tmp_path: Path) -> None:
    """SentencePiece keeps a mark behind what it composes, which the normalizer of its map drops.

    Where this fails, tokenizers has learnt it, and the refusal of the class may go.
    """
    OLD["T5Tokenizer"].write(tmp_path)
    library = transformers.SiglipTokenizer(str(tmp_path / "spiece.model"))
    saved = read_sentencepiece(ModelFolder.at(tmp_path), "spiece.model", "Unigram")
    normalizer = normalizers.Precompiled(saved.characters_map)
    assert normalizer.normalize_str("the e\u0301\u0316") == "the \u00e9"
    the, unknown = library.convert_tokens_to_ids(["\u2581the", "<unk>"])
    ids = library("the e\u0301\u0316")["input_ids"]
    assert ids == [the, *library.convert_tokens_to_ids(["\u2581", "\u00e9"]), unknown, 1]
