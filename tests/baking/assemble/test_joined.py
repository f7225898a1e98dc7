"""Pairs are joined as the tokenizer itself joins them, or nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.files.task_models import write_reranker
from models.folders.tiny_folders import write_bert
from polybake.baking.assemble.joined import check_joined
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.container import read_head
from polybake.errors import CheckFailed
from polybake.runtime.tokenization.tokenizer import bake_tokenizer


def test_golden_pairs_are_compared(tmp_path: Path) -> None:
    """Ids and types of every golden pair count, cut pairs included; one other token is found."""
    head = read_head(write_reranker(tmp_path / "tiny-reranker.onnx"))
    pair, golden = head.manifest.contract.pair, head.fixture.cases
    assert pair is not None
    whole = bake_tokenizer(ModelFolder.at(write_bert(tmp_path / "model")))
    check_joined(whole, pair, golden)
    first = golden[0]
    assert first.type_ids is not None
    turned = first.model_copy(update={"type_ids": tuple(row[::-1] for row in first.type_ids)})
    longer = first.model_copy(update={"input_ids": tuple((*r, 3) for r in first.input_ids)})
    for changed in (turned, longer):
        with pytest.raises(CheckFailed, match="case plain: the tokenizer joins its pair to "):
            check_joined(whole, pair, [changed])
