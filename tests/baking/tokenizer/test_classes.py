"""The class of transformers' tokenizers that a folder gets, and what it makes anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.known_classes import (
    CLASSES,
    gave_types,
    gives_types,
    rebuilt_class,
)
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

METASPACE = pre_tokenizers.Metaspace()
PIECES = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("a", -1.0)]


def baked(folder: Path) -> BakedTokenizer:
    return open_tokenizer(ModelFolder.at(folder))


@pytest.mark.parametrize(
    ("declared", "model", "expected"),
    [
        ("BertTokenizerFast", {}, "BertTokenizer"),
        ("BertTokenizer", {"model_type": "new"}, "BertTokenizer"),
        (None, {"model_type": "nomic_bert"}, "BertTokenizer"),
        (None, {"model_type": "bert", "tokenizer_class": "PreTrainedTokenizerFast"}, None),
        ("FooTokenizer", {"model_type": "bert"}, None),
        ("TokenizersBackend", {"model_type": "bert"}, None),
        ("XLMRobertaTokenizer", {"model_type": "bert"}, "XLMRobertaTokenizer"),
        ("BertTokenizer", {"model_type": "modernbert"}, None),
        ("PreTrainedTokenizerFast", {"model_type": "qwen2"}, "Qwen2Tokenizer"),
        ("PreTrainedTokenizerFast", {"model_type": "qwen3"}, None),
        (None, {}, None),
    ],
)
def test_class_is_the_library_s(
    declared: str | None, model: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    """The declared class, else the model's; an unknown one keeps tokenizer.json."""
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": declared})
    config = TokenizerConfig.of(ModelFolder.at(tmp_path))
    assert rebuilt_class(config, ModelConfig(**model)) is CLASSES.get(expected or "")


@pytest.mark.parametrize(
    ("declared", "model", "typed"),
    [
        (None, "bert", True),
        (None, "roberta", False),
        ("BertTokenizerFast", "roberta", True),
        ("DebertaV2Tokenizer", "bert", True),
        ("RobertaTokenizer", "bert", False),
        ("AlbertTokenizerFast", "albert", False),
        ("TokenizersBackend", "bert", False),
    ],
)
@pytest.mark.parametrize("place", ["tokenizer_config.json", "config.json"])
def test_the_class_says_whether_pairs_have_types(
    declared: str | None, model: str, typed: bool, place: str, tmp_path: Path
) -> None:
    """A known class decides, and ``model_input_names`` before it."""
    settings: dict[str, dict[str, object]] = {"tokenizer_config.json": {}, "config.json": {}}
    settings[place]["tokenizer_class"] = declared
    settings["config.json"]["model_type"] = model
    for name, content in settings.items():
        write_json(tmp_path / name, content)
    folder = ModelFolder.at(tmp_path)
    assert gives_types(folder) is typed
    assert gave_types(folder) is (model == "albert")
    names = ["input_ids", "attention_mask", *([] if typed else ["token_type_ids"])]
    settings["tokenizer_config.json"]["model_input_names"] = names
    write_json(tmp_path / "tokenizer_config.json", settings["tokenizer_config.json"])
    assert gives_types(folder) is not typed
    assert not gave_types(folder)


@pytest.mark.parametrize("declared", ["FooTokenizer", None])
def test_the_key_is_asked_for(declared: str | None, tmp_path: Path) -> None:
    """Where the class is not known."""
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": declared})
    write_json(tmp_path / "config.json", {"model_type": "foo" if declared is None else "bert"})
    with pytest.raises(InputError, match=rf"{declared or 'TokenizersBackend'} leaves open"):
        gives_types(ModelFolder.at(tmp_path))


def write(folder: Path, kind: str, tokenizer: Tokenizer, **settings: object) -> Path:
    """Write ``tokenizer`` with the special tokens of ``kind`` around a text."""
    edges = CLASSES[kind]
    first, last = (edge[1] if edge else "" for edge in (edges.first, edges.last))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}".strip(),
        special_tokens=[(one, tokenizer.token_to_id(one)) for one in (first, last) if one],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    given = {"model_max_length": 9, "tokenizer_class": kind, "pad_token": None}
    write_json(folder / "tokenizer_config.json", given | settings)
    write_json(folder / "config.json", {"pad_token_id": 0})
    return folder


def pieces(pre_tokenizer: Any = METASPACE, normalizer: Any = None) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram(PIECES, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.normalizer = normalizer or normalizers.NFC()
    return tokenizer


def byte_pairs(prefix: bool = False, dropout: float | None = None) -> Tokenizer:
    words = {"<s>": 0, "</s>": 1, "a": 2, "b": 3, "ab": 4}
    tokenizer = Tokenizer(models.BPE(words, [("a", "b")], dropout=dropout))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    return tokenizer


BERT = {"tokenizer_class": "BertTokenizer"}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (BERT, (True, None, True)),
        (BERT | {"do_lower_case": False}, (False, None, True)),
        ({"tokenizer_class": "BertTokenizerFast", "strip_accents": False}, (True, False, True)),
        (BERT | {"tokenize_chinese_chars": False}, (True, None, False)),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, (False, True, False)),
        ({"tokenizer_class": "TokenizersBackend", "do_lower_case": True}, (False, True, False)),
        ({}, (False, True, False)),
    ],
)
def test_settings_make_berts_normalizer(
    config: dict[str, object], expected: tuple[object, ...], tmp_path: Path
) -> None:
    """tokenizer_config.json wins over tokenizer.json, but for the generic classes."""
    write_tokenizer(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text())
    data["normalizer"] |= {"lowercase": False, "strip_accents": True, "handle_chinese_chars": False}
    write_json(tmp_path / "tokenizer.json", data)
    given = {"model_max_length": 9, "pad_token": "[PAD]"}
    write_json(tmp_path / "tokenizer_config.json", given | config)
    found = json.loads(baked(tmp_path).json)["normalizer"]
    keys = ("lowercase", "strip_accents", "handle_chinese_chars")
    assert tuple(found[key] for key in keys) == expected
    assert found["clean_text"] is True


def test_berts_class_has_a_normalizer(tmp_path: Path) -> None:
    """It is made where tokenizer.json has none; another one is kept, as the generic class does."""
    write_tokenizer(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    write_json(tmp_path / "tokenizer.json", data | {"normalizer": None})
    assert json.loads(baked(tmp_path).json)["normalizer"] == data["normalizer"]
    other = {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}]}
    for name in ("BertTokenizer", "TokenizersBackend"):
        change_json(tmp_path / "tokenizer_config.json", tokenizer_class=name)
        write_json(tmp_path / "tokenizer.json", data | {"normalizer": other})
        assert json.loads(baked(tmp_path).json)["normalizer"] == other


@pytest.mark.parametrize("key", ["cls_token", "sep_token", "unk_token"])
def test_special_tokens_must_be_those_of_tokenizer_json(key: str, tmp_path: Path) -> None:
    """Another token in the configuration would be another id; the generic class ignores it."""
    write_tokenizer(tmp_path)
    change_json(tmp_path / "tokenizer_config.json", **{key: "[MASK]"})
    with pytest.raises(InputError, match=rf"{key} = '\[MASK\]', expected .*save the tokenizer"):
        baked(tmp_path)
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    assert baked(tmp_path).encode(["the \u6c34"]) == [[2, 5, 1, 3]]


@pytest.mark.parametrize(
    ("kind", "tokenizer"),
    [
        ("RobertaTokenizer", byte_pairs()),
        ("XLMRobertaTokenizer", pieces()),
        ("T5Tokenizer", pieces()),
        ("DebertaV2Tokenizer", pieces()),
    ],
)
def test_post_processor_must_be_there(kind: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    """A missing post_processor is refused, as the library would make one that changes ids."""
    write(tmp_path, kind, tokenizer)
    assert baked(tmp_path).count("a") > 1
    change_json(tmp_path / "tokenizer.json", post_processor=None)
    with pytest.raises(InputError, match=r"expected a post_processor with .*save the tokenizer"):
        baked(tmp_path)


LOWER = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
ALBERT = normalizers.Sequence(LOWER)
PUNCTUATION = pre_tokenizers.Sequence([pre_tokenizers.Punctuation(), METASPACE])
NEVER = pre_tokenizers.Metaspace(prepend_scheme="never")


@pytest.mark.parametrize(
    ("kind", "tokenizer", "key", "said"),
    [
        ("RobertaTokenizer", byte_pairs(), "add_prefix_space", False),
        ("RobertaTokenizer", byte_pairs(prefix=True), "add_prefix_space", True),
        ("Qwen2Tokenizer", byte_pairs(), "add_prefix_space", False),
        ("XLMRobertaTokenizer", pieces(), "add_prefix_space", True),
        ("CamembertTokenizer", pieces(NEVER), "add_prefix_space", False),
        ("AlbertTokenizer", pieces(normalizer=ALBERT), "do_lower_case", True),
        ("AlbertTokenizer", pieces(normalizer=ALBERT), "keep_accents", False),
        ("DebertaV2Tokenizer", pieces(), "do_lower_case", False),
        ("DebertaV2Tokenizer", pieces(PUNCTUATION), "split_by_punct", True),
    ],
)
def test_settings_must_be_those_of_tokenizer_json(
    kind: str, tokenizer: Tokenizer, key: str, said: bool, tmp_path: Path
) -> None:
    """A setting that contradicts it is refused by name; one that agrees is not."""
    write(tmp_path, kind, tokenizer, **{key: said})
    assert baked(tmp_path).count("a") > 0
    change_json(tmp_path / "tokenizer_config.json", **{key: not said})
    expected = f"{key} = {json.dumps(not said)}, expected {json.dumps(said)} "
    with pytest.raises(InputError, match=expected):
        baked(tmp_path)
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    assert baked(tmp_path).count("a") > 0


def test_null_is_false(tmp_path: Path) -> None:
    """Transformers saves null for false in Qwen's settings."""
    write(tmp_path, "Qwen2Tokenizer", byte_pairs(), add_prefix_space=None)
    assert baked(tmp_path).encode(["ab"]) == [[4]]


def test_drops_no_merges(tmp_path: Path) -> None:
    """Classes make their model without dropout."""
    write(tmp_path, "RobertaTokenizer", byte_pairs(dropout=0.5))
    assert json.loads(baked(tmp_path).json)["model"]["dropout"] is None
