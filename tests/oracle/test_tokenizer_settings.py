"""Settings beside tokenizer.json, as transformers obeys them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from models.folders.bert import KINDS
from models.folders.rotary import KINDS as ROTARY
from models.folders.rotary import qwen2_tokenizer
from models.folders.saved import save
from models.folders.tiny_folders import write_json
from polybake.baking.sources import open_source
from polybake.errors import InputError
from support.oracle.agreement import agreement_with_folder
from support.oracle.proven import Judged

Change = Callable[[dict[str, Any]], object]


def qwen3() -> tuple[Any, Any]:
    import transformers

    tokenizer = qwen2_tokenizer()
    settings = ROTARY["qwen3"].settings | {"vocab_size": len(tokenizer)}
    return transformers.Qwen3Model(transformers.Qwen3Config(**settings)), tokenizer


def changed(
    folder: Path, kind: str, settings: Mapping[str, object], change: Change | None = None
) -> Path:
    """Save a model of this kind, then change tokenizer_config.json and tokenizer.json."""
    saved = save(folder, *(qwen3 if kind == "qwen3" else KINDS[kind])())
    path = saved / "tokenizer_config.json"
    config = json.loads(path.read_text("utf-8")) | settings
    if "max_len" in settings:
        del config["model_max_length"]
    write_json(path, config)
    if change is not None:
        data = json.loads((saved / "tokenizer.json").read_text("utf-8"))
        change(data)
        write_json(saved / "tokenizer.json", data)
    return saved


def cut_left(data: dict[str, Any]) -> None:
    cut = {"direction": "Left", "max_length": 20, "strategy": "LongestFirst", "stride": 0}
    data["truncation"] = cut


BOAT = {"content": "boat", "lstrip": False, "rstrip": False, "normalized": False, "special": True}


@pytest.mark.parametrize(
    ("kind", "settings", "change"),
    [
        ("bert", {"max_len": 12}, None),
        ("bert", {"model_max_length": float("inf")}, None),
        ("bert", {}, cut_left),
        ("bert", {"truncation_side": "right"}, cut_left),
        ("bert", {"tokenizer_class": "FooTokenizer", "do_lower_case": False}, None),
        ("bert", {}, lambda data: data.update(normalizer=None)),
        ("bert", {"added_tokens_decoder": {"8": BOAT}}, None),
        ("bert", {"additional_special_tokens": ["boat"]}, None),
        ("roberta", {}, lambda data: data["model"].update(dropout=0.5)),
        ("roberta", {"tokenizer_class": "TokenizersBackend", "add_prefix_space": True}, None),
        ("qwen3", {}, None),
    ],
)
def test_follows_the_library(
    kind: str,
    settings: dict[str, object],
    change: Change | None,
    tmp_path: Path,
    judged: Judged,
) -> None:
    """Ids are those of the library, and vectors agree."""
    folder = changed(tmp_path, kind, settings, change)
    judged(agreement_with_folder(folder, tmp_path / "tiny.onnx"))


@pytest.mark.parametrize(
    ("kind", "settings", "change", "key"),
    [
        ("bert", {"cls_token": "[MASK]"}, None, "cls_token"),
        ("bert", {"unk_token": "[MASK]"}, None, "unk_token"),
        ("bert", {}, lambda data: data.update(post_processor=None), "cls_token"),
        ("t5", {}, lambda data: data.update(post_processor=None), "eos_token"),
        ("roberta", {"add_prefix_space": True}, None, "add_prefix_space"),
        ("xlm-roberta", {"add_prefix_space": False}, None, "add_prefix_space"),
        ("albert", {"do_lower_case": False}, None, "do_lower_case"),
        ("albert", {"keep_accents": True}, None, "keep_accents"),
        ("deberta-v3", {"do_lower_case": True}, None, "do_lower_case"),
        ("deberta-v3", {"split_by_punct": True}, None, "split_by_punct"),
        ("qwen3", {"add_prefix_space": True}, None, "add_prefix_space"),
    ],
)
def test_the_remedy_helps(
    kind: str,
    settings: dict[str, object],
    change: Change | None,
    key: str,
    tmp_path: Path,
    judged: Judged,
) -> None:
    """What is refused agrees once the tokenizer is saved again."""
    from transformers import AutoTokenizer

    folder = changed(tmp_path, kind, settings, change)
    with pytest.raises(InputError, match=rf"{key} = .*save the tokenizer again"):
        open_source(folder)
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    judged(agreement_with_folder(folder, tmp_path / "tiny.onnx"))
