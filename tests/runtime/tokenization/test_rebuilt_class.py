"""The parts of tokenizer.json that transformers' own classes replace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.known_classes import CLASSES
from polybake.runtime.tokenization.tokenizer import BakedTokenizer, bake_tokenizer

METASPACE = pre_tokenizers.Metaspace()
PIECES = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("a", -1.0)]


def baked(folder: Path) -> BakedTokenizer:
    return bake_tokenizer(ModelFolder.at(folder))


def write(folder: Path, kind: str, tokenizer: Tokenizer, **settings: object) -> Path:
    """Write ``tokenizer`` with the special tokens of ``kind`` around a text."""
    edges = CLASSES[kind]
    first, last = (edge[1] if edge else "" for edge in (edges.first, edges.last))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}".strip(),
        special_tokens=[(one, tokenizer.token_to_id(one)) for one in (first, last) if one],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(
        folder / "tokenizer_config.json",
        {"model_max_length": 9, "tokenizer_class": kind, "pad_token": None, **settings},
    )
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


def test_bert_s_class_has_a_normalizer(tmp_path: Path) -> None:
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


ALBERT = normalizers.Sequence(
    [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
)
PUNCTUATION = pre_tokenizers.Sequence([pre_tokenizers.Punctuation(), METASPACE])


@pytest.mark.parametrize(
    ("kind", "tokenizer", "key", "said"),
    [
        ("RobertaTokenizer", byte_pairs(), "add_prefix_space", False),
        ("RobertaTokenizer", byte_pairs(prefix=True), "add_prefix_space", True),
        ("Qwen2Tokenizer", byte_pairs(), "add_prefix_space", False),
        ("XLMRobertaTokenizer", pieces(), "add_prefix_space", True),
        (
            "CamembertTokenizer",
            pieces(pre_tokenizers.Metaspace(prepend_scheme="never")),
            "add_prefix_space",
            False,
        ),
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
    with pytest.raises(
        InputError, match=rf"{key} = {str(not said).lower()}, expected {str(said).lower()} "
    ):
        baked(tmp_path)
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    assert baked(tmp_path).count("a") > 0


def test_null_is_false(tmp_path: Path) -> None:
    """Transformers saves null for false in Qwen's settings."""
    write(tmp_path, "Qwen2Tokenizer", byte_pairs(), add_prefix_space=None)
    assert baked(tmp_path).encode(["ab"]) == [[4]]


def test_another_class_s_model_is_kept(tmp_path: Path) -> None:
    """An older folder may name a class that does not fit its tokenizer.json."""
    write(tmp_path, "XLMRobertaTokenizer", pieces(), tokenizer_class="BertTokenizer")
    assert json.loads(baked(tmp_path).json)["normalizer"] == {"type": "NFC"}


def test_drops_no_merges(tmp_path: Path) -> None:
    """Classes make their model without dropout; a dropout that would stay is refused."""
    write(tmp_path, "RobertaTokenizer", byte_pairs(dropout=0.5))
    assert json.loads(baked(tmp_path).json)["model"]["dropout"] is None
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    with pytest.raises(InputError, match=r"model\.dropout = 0\.5 .*expected null; set it to null"):
        baked(tmp_path)
