"""Encoders with rotary positions against transformers: tiny models, saved by it and baked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers

from models.folders.rotary import (
    KINDS,
    gemma_tokenizer,
    mistral_tokenizer,
    qwen2_tokenizer,
    save_kind,
)
from models.folders.saved import save
from models.folders.tiny_folders import change_json
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import agreement_with_folder
from support.oracle.proven import Judged, Proven

TEXTS = ("the river", "", "a boat in the water: query, passage.", "boats", "water boats, " * 30)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("name", KINDS)
def test_baked_model_agrees(name: str, side: str, tmp_path: Path, proven: Proven) -> None:
    """Ids are equal and vectors agree, alone and in one batch padded on each side."""
    folder = save_kind(KINDS[name], tmp_path / "model", side)
    cases = [CaseText("batch", "", (), None, TEXTS)]
    cases += [CaseText(f"alone-{i}", "", (), None, (text,)) for i, text in enumerate(TEXTS)]
    proven(name, agreement_with_folder(folder, tmp_path / "baked.onnx", cases))


@pytest.mark.parametrize("name", ["gemma", "llama", "mistral", "qwen2", "qwen3"])
def test_a_prompt_that_is_computed_once_agrees(name: str, tmp_path: Path, judged: Judged) -> None:
    """Texts of one prompt in one batch, and alone."""
    folder = save_kind(KINDS[name], tmp_path / "model")
    prompts = {"query": "the water of a river: ", "passage": "a boat in the water, "}
    change_json(folder / "config_sentence_transformers.json", prompts=prompts)
    cases = [CaseText(f"batch-{prompt}", "", (), prompt, TEXTS) for prompt in prompts]
    cases += [CaseText(f"alone-{i}", "", (), "query", (text,)) for i, text in enumerate(TEXTS)]
    found = agreement_with_folder(folder, tmp_path / "baked.onnx", cases)
    cached = read_head(found.baked).manifest.cached
    assert cached is not None
    assert {*cached.tokens} == {*prompts}
    judged(found)


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        ("qwen2", qwen2_tokenizer),
        ("qwen3", qwen2_tokenizer),
        ("mistral", mistral_tokenizer),
        ("gemma", gemma_tokenizer),
        ("gemma3_text, both ways", gemma_tokenizer),
    ],
)
def test_agrees_with_its_own_tokenizer(
    name: str, tokenizer: Callable[[], Any], tmp_path: Path, proven: Proven
) -> None:
    """Ids are equal and vectors agree for every built-in case of the family's tokenizer."""
    kind, built = KINDS[name], tokenizer()
    settings = kind.settings | {"vocab_size": len(built), "pad_token_id": built.pad_token_id}
    config = getattr(transformers, f"{kind.model}Config")(**settings)
    model = getattr(transformers, f"{kind.model}Model")(config)
    folder = save(tmp_path, model, built, kind.pooling)
    proven(f"{name}, its tokenizer", agreement_with_folder(folder, tmp_path / "tiny.onnx"))
