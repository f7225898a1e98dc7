"""Classes of tokenizers beside transformers: ids of texts, types of pairs, or a word on both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transformers

import polybake
from models.folders.clip import clip_tokenizer
from models.folders.heads import saved_bert
from models.folders.old_tokenizers import OLD, write_old
from models.folders.tiny_folders import change_json, write_json
from polybake.baking.golden.texts import builtin_cases
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.known_classes import CLASSES, KEEPING, gave_types, gives_types
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from support.oracle.agreement import agreement_with_cross_encoder
from support.oracle.proven import Judged

Json = dict[str, Any]

#: What comes before a part of tokenizer.json, or stands in for its model.
CHANGES = ("none", "normalizer", "pre_tokenizer", "model")
#: Whose parts are not known, so that nothing more can be said.
UNKNOWN = ("DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer")
TYPES = ["input_ids", "token_type_ids", "attention_mask"]
NO_TYPES = ["input_ids", "attention_mask"]
TEXTS = ("the water is 12,345 m\u00b2", "Na\u00efve  caf\u00e9 \u4e2d\u6587\uff21 ``x'' \U0001f680")


def saved(folder: Path, name: str) -> Path:
    """Let transformers save the tokenizer of a class."""
    if name == "CLIPTokenizer":
        tokenizer = clip_tokenizer()
    else:
        write_json(write_old(folder / "old", name) / "config.json", {"model_type": "bert"})
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "old")
    tokenizer.save_pretrained(folder / "new")
    write_json(folder / "new" / "config.json", {"model_type": "bert", "pad_token_id": 0})
    return folder / "new"


def change(folder: Path, part: str) -> None:
    """Change a part of tokenizer.json."""
    path = folder / "tokenizer.json"
    data = json.loads(path.read_text("utf-8"))
    if part == "normalizer":
        first = {"type": "Replace", "pattern": {"String": "t"}, "content": "x"}
        parts = [one for one in (first, data[part]) if one is not None]
        data[part] = {"type": "Sequence", "normalizers": parts}
    elif part == "pre_tokenizer":
        first = {"type": "Split", "pattern": {"String": "e"}, "behavior": "Isolated"}
        parts = [one for one in (first | {"invert": False}, data[part]) if one is not None]
        data[part] = {"type": "Sequence", "pretokenizers": parts}
    elif part == "model":
        vocabulary = data["model"]["vocab"]
        names = list(vocabulary) if isinstance(vocabulary, dict) else [one[0] for one in vocabulary]
        data["model"] = {"type": "WordLevel", "unk_token": names[1]}
        data["model"]["vocab"] = {token: number for number, token in enumerate(names)}
    write_json(path, data)


def library_ids(folder: Path, texts: list[str]) -> list[list[int]] | None:
    """The ids of transformers; None where it makes no tokenizer."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    except (TypeError, ValueError):
        return None
    limit = tokenizer.model_max_length
    ids: list[list[int]] = tokenizer(texts, truncation=True, max_length=limit)["input_ids"]
    return ids


@pytest.mark.parametrize("part", CHANGES)
@pytest.mark.parametrize("name", sorted({*OLD, "CLIPTokenizer"} - {*UNKNOWN}))
def test_ids_are_the_library_s_or_the_part_is_named(name: str, part: str, tmp_path: Path) -> None:
    """The part is named if and only if ids differ; the class of the remedy gives equal ones."""
    folder = saved(tmp_path, name)
    change(folder, part)
    ours = open_tokenizer(ModelFolder.at(folder))
    cases = builtin_cases(prompts={}, token_count=ours.count, max_length=ours.max_length)
    texts = [*TEXTS, *(text for case in cases for text in case.texts)]
    equal = library_ids(folder, texts) == ours.encode(texts)
    assert (ours.differs is None) is equal
    assert equal or (ours.differs is not None and ours.differs.parts == (part,))
    assert equal or part != "none"
    change_json(folder / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    kept = open_tokenizer(ModelFolder.at(folder))
    assert kept.differs is None
    assert library_ids(folder, texts) == kept.encode(texts) == ours.encode(texts)


@pytest.mark.parametrize("name", KEEPING[2:])
def test_a_class_without_code_keeps_the_file(name: str) -> None:
    """Source: transformers ``TokenizersBackend.convert_to_native_format``."""
    assert "__init__" not in vars(getattr(transformers, name))


@pytest.mark.parametrize("keys", [None, TYPES, NO_TYPES], ids=["no key", "types", "no types"])
@pytest.mark.parametrize("spelled", ["", "Fast"])
@pytest.mark.parametrize("name", CLASSES)
def test_pairs_have_types_as_in_the_library(
    name: str, spelled: str, keys: list[str] | None, tmp_path: Path
) -> None:
    """Of every class, as transformers 5 and 4 spell it, with ``model_input_names`` and without."""
    folder = saved(tmp_path, name)
    named: Json = {} if keys is None else {"model_input_names": keys}
    change_json(folder / "tokenizer_config.json", tokenizer_class=f"{name}{spelled}", **named)
    library = transformers.AutoTokenizer.from_pretrained(folder)
    assert gives_types(ModelFolder.at(folder)) is ("token_type_ids" in library("a", "b"))
    assert gave_types(ModelFolder.at(folder)) is (name == "AlbertTokenizer" and keys is None)


#: A class, ``model_input_names``, and whether the bake asks for the key.
HUGGING_FACE = [
    ("BertTokenizer", None, False),
    ("BertTokenizerFast", NO_TYPES, False),
    ("TokenizersBackend", None, False),
    ("TokenizersBackend", TYPES, False),
    ("PreTrainedTokenizerFast", None, True),
    ("PreTrainedTokenizerFast", TYPES, False),
    ("PreTrainedTokenizerFast", NO_TYPES, False),
    ("FooTokenizer", None, True),
    (None, None, False),
]


@pytest.mark.parametrize(("name", "keys", "asks"), HUGGING_FACE)
def test_scores_of_pairs(
    name: str | None, keys: list[str] | None, asks: bool, tmp_path: Path, judged: Judged
) -> None:
    """A BERT reranker of every saved class: the same types and scores, or the key is asked for."""
    folder = saved_bert(tmp_path / "model", "bert", ("LABEL_0",))
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text("utf-8")) | {"tokenizer_class": name}
    write_json(path, settings | ({} if keys is None else {"model_input_names": keys}))
    if asks:
        with pytest.raises(InputError, match=r"set model_input_names to what the model was train"):
            polybake.bake(folder, tmp_path / "tiny.onnx", name="tiny")
        write_json(path, settings | {"model_input_names": TYPES})
    judged(agreement_with_cross_encoder(folder, tmp_path / "tiny.onnx"))
