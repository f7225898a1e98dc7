"""Folders with a vector for each token; tests/oracle/test_multi_vector.py compares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.files.task_models import write_colbert
from models.folders.stanford import write_stanford
from models.folders.tiny_folders import change_json, write_json
from polybake.baking.sources import Source, open_source
from polybake.baking.sources.expanded_encoder import ExpandedEncoder
from polybake.baking.sources.expansion import Expansion
from polybake.errors import InputError


def expansion(source: Source) -> Expansion:
    assert isinstance(source.encoder, ExpandedEncoder)
    return source.encoder.expansion


def write_pylate(folder: Path, **settings: Any) -> Path:
    """The same as PyLate saves it: no masks, no norms, and settings of its own."""
    write_colbert(folder)
    (folder / "sentence_bert_config.json").unlink()
    dense = {"activation_function": "torch.nn.modules.linear.Identity", "bias": False}
    write_json(folder / "1_Dense" / "config.json", dense)
    types = ("sentence_transformers.models.Transformer", "pylate.models.Dense.Dense")
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": kind}
        for place, (path, kind) in enumerate(zip(("", "1_Dense"), types, strict=True))
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "tokenizer_config.json", {"mask_token": "[MASK]", "pad_token": "[PAD]"})
    saved = {"query_prefix": "[Q] ", "document_prefix": "[D] ", "prompts": {}, **settings}
    write_json(folder / "config_sentence_transformers.json", saved)
    return folder


@pytest.mark.parametrize(
    ("settings", "limits", "widths"),
    [
        ({"query_expansion": None}, (24, 32), (0, 0)),
        ({"query_expansion": None, "query_length": 7}, (24, 7), (0, 0)),
        ({"query_expansion": {"strategy": "min", "length": 9, "token": "a"}}, (24, 32), (0, 9)),
        ({"document_length": 500}, (32, 9), (0, 9)),
    ],
)
def test_limits(
    settings: dict[str, Any], limits: tuple[int, int], widths: tuple[int, int], tmp_path: Path
) -> None:
    """None is beyond what the model takes."""
    found = expansion(open_source(write_colbert(tmp_path / "m", **settings)))
    assert (found.limits, found.widths) == (limits, widths)


@pytest.mark.parametrize(
    ("settings", "limits", "widths", "query"),
    [
        ({}, (40, 32), (0, 32), "[Q] "),
        ({"query_length": 12, "document_length": 20}, (20, 12), (0, 12), "[Q] "),
        ({"do_query_expansion": False}, (40, 40), (0, 0), "[Q] "),
        ({"prompts": {"query": "[Q] the "}}, (40, 32), (0, 32), "[Q] the "),
    ],
)
def test_pylate_s(
    settings: dict[str, Any],
    limits: tuple[int, int],
    widths: tuple[int, int],
    query: str,
    tmp_path: Path,
) -> None:
    """What it does besides its modules is what its settings say, else its defaults."""
    source = open_source(write_pylate(tmp_path / "m", **settings))
    found = expansion(source)
    assert (found.limits, found.widths) == (limits, widths)
    assert [step["step"] for step in source.recipe] == ["route", "dense", "normalize", "unpad"]
    assert source.prompts["query"] == query


BERT = "sentence_bert_config.json"


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        (BERT, {"query_expansion": {"strategy": "fixed", "length": 9}}, "'the mask token', which"),
        (BERT, {"query_expansion": {"strategy": "other", "length": 9}}, "strategy: .* found 'oth"),
        ("2_MultiVectorMask/config.json", {"keep_only_token_ids": [3]}, "keep_only_token_ids"),
    ],
)
def test_what_cannot_be_baked_is_named(
    file: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """A token that is not there, another way to fill queries up, and pictures among texts."""
    folder = write_colbert(tmp_path / "m")
    change_json(folder / file, **changes)
    with pytest.raises(InputError, match=message):
        open_source(folder)


def test_damaged_metadata_of_stanford_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="query_maxlen"):
        open_source(write_stanford(tmp_path / "m", {"query_maxlen": 0}))
