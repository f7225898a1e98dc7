"""What transformers 5 makes of a tokenizer.json with other token ids, and who says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from models.folders.old_tokenizers import OLD, made
from models.folders.tiny_folders import change_json, write_json
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.known_classes import CLASSES
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import TokenizerDifference
from polybake.runtime.tokenizer import BakedTokenizer
from support.samples.weekly import weekly_but

Json = dict[str, Any]

#: Changes of tokenizer.json that a class of transformers 5 undoes.
CHANGES: dict[str, Json] = {
    "normalizer": {"type": "Replace", "pattern": {"String": "t"}, "content": "x"},
    "pre_tokenizer": {"type": "Split", "pattern": {"String": "e"}, "behavior": "Isolated"}
    | {"invert": False},
}


#: Classes that make parts anew in transformers 5.
REMAKING = sorted(name for name in OLD if name in CLASSES)


def saved(folder: Path, name: str, *, named: str = "") -> Path:
    """Write the tokenizer.json that a class makes, with its settings, or as another class's."""
    made(folder, name).save(str(folder / "tokenizer.json"))
    write_json(folder / "config.json", {"pad_token_id": 0})
    change_json(folder / "tokenizer_config.json", tokenizer_class=named or name)
    return folder


def change(folder: Path, part: str) -> None:
    """Let what `CHANGES` has come before a part of tokenizer.json."""
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    parts = [one for one in (CHANGES[part], data[part]) if one is not None]
    members = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}[part]
    change_json(folder / "tokenizer.json", **{part: {"type": "Sequence", members: parts}})


def baked(folder: Path) -> BakedTokenizer:
    return open_tokenizer(ModelFolder.at(folder))


@pytest.mark.parametrize("part", CHANGES)
@pytest.mark.parametrize(
    "name",
    weekly_but(2, REMAKING),
)
def test_the_part_is_named_and_the_file_is_followed(name: str, part: str, tmp_path: Path) -> None:
    """Ids are those of tokenizer.json; the class that keeps it differs in nothing."""
    folder = saved(tmp_path, name)
    assert baked(folder).differs is None
    change(folder, part)
    found = baked(folder)
    assert found.differs == TokenizerDifference(tokenizer_class=name, parts=(part,))
    file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert found.encode(["the water"]) == [file.encode("the water").ids]
    change_json(folder / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    assert baked(folder).differs is None


@pytest.mark.parametrize(
    ("saved_as", "name", "options", "parts"),
    [
        ("T5Tokenizer", "RobertaTokenizer", {}, ("model",)),
        ("T5Tokenizer", "BertTokenizer", {}, ("model",)),
        ("BertTokenizer", "AlbertTokenizer", {}, ("model",)),
        ("BertTokenizer", "BertTokenizer", {"max_input_chars_per_word": 2}, ("model",)),
        ("XLMRobertaTokenizer", "XLMRobertaTokenizer", {"unk_id": 0}, ("model",)),
        ("GemmaTokenizer", "GemmaTokenizer", {"byte_fallback": False}, ("model",)),
        ("T5Tokenizer", "NllbTokenizer", {}, ()),
        ("GPT2Tokenizer", "LlamaTokenizer", {}, None),
    ],
)
def test_another_model_is_named(
    saved_as: str, name: str, options: Json, parts: tuple[str, ...] | None, tmp_path: Path
) -> None:
    """Of another type, or with options for long words and unknown characters.

    A class that is not known cannot be compared; Llama 3's tokens are bytes, and are kept.
    """
    folder = saved(tmp_path, saved_as, named=name)
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    change_json(folder / "tokenizer.json", model=data["model"] | options)
    said = None if parts is None else TokenizerDifference(tokenizer_class=name, parts=parts)
    assert baked(folder).differs == said


def test_another_spelling_is_no_difference(tmp_path: Path) -> None:
    """Transformers 4 saved XLM-R's parts with more steps, which give the same ids."""
    folder = saved(tmp_path, "XLMRobertaTokenizer")
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"}
    end = {"type": "Strip", "strip_left": False, "strip_right": True}
    words = {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": True}
    change_json(
        folder / "tokenizer.json",
        normalizer={"type": "Sequence", "normalizers": [data["normalizer"], end, spaces]},
        pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, words]},
    )
    assert baked(folder).differs is None


@pytest.mark.parametrize("clean", [True, False])
def test_both_versions_change_bert_s_normalizer(clean: bool, tmp_path: Path) -> None:
    """Settings win in either version; signs that the file keeps are dropped by version 5."""
    folder = saved(tmp_path, "BertTokenizer")
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    normalizer = data["normalizer"] | {"lowercase": False, "clean_text": clean}
    change_json(folder / "tokenizer.json", normalizer=normalizer)
    found = baked(folder)
    assert json.loads(found.json)["normalizer"] == data["normalizer"] | {"clean_text": clean}
    parts = ("normalizer",)
    said = None if clean else TokenizerDifference(tokenizer_class="BertTokenizer", parts=parts)
    assert found.differs == said
