"""Golden texts are split, and pairs joined, as the tokenizer itself does, or nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from models.files.task_models import write_labelled_tokens
from models.folders.tiny_folders import CONFIG, write_bert
from polybake.baking.assemble.client_tokens import check_joined, check_split
from polybake.baking.bake_config import bake_config
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.container import read_head
from polybake.config import Config
from polybake.errors import CheckFailed
from polybake.runtime.tokenizer import BakedTokenizer


def across_gaps() -> Tokenizer:
    """A tokenizer that merges letters of two words."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "e", " ", "e "]
    made = Tokenizer(models.BPE({one: n for n, one in enumerate(tokens)}, [("e", " ")]))
    made.pre_tokenizer = pre_tokenizers.Split("\n", "isolated")
    return made


def test_golden_texts_are_compared(tiny_tag: Path, tiny_answer: Path) -> None:
    """A tokenizer that joins words across gaps fails on golden texts and on contexts of pairs."""
    for model in (tiny_tag, tiny_answer):
        head = read_head(model)
        contract, golden = head.manifest.contract, head.fixture.cases
        check_split(BakedTokenizer.of(head.tokenizer, contract), golden)
        other = BakedTokenizer.of(across_gaps().to_str(), contract)
        with pytest.raises(CheckFailed, match=r"case plain: the tokenizer makes .* at white"):
            check_split(other, golden)


def test_nothing_is_written(tmp_path: Path) -> None:
    """A bake of such a model ends with what to do."""
    source = write_labelled_tokens(tmp_path / "model")
    data = json.loads((source / "tokenizer.json").read_text())
    other = json.loads(across_gaps().to_str())
    vocabulary = other["model"]["vocab"]
    assert len(vocabulary) < CONFIG["vocab_size"]
    data |= {key: other[key] for key in ("model", "pre_tokenizer", "normalizer", "decoder")}
    (source / "tokenizer.json").write_text(json.dumps(data))
    table = {"name": "tiny", "source": source, "output": tmp_path / "tiny.onnx"}
    with pytest.raises(CheckFailed, match="take a model whose tokenizer splits at white space"):
        bake_config(Config.model_validate({"model": table}))
    assert not (tmp_path / "tiny.onnx").exists()


def test_golden_pairs_are_compared(tiny_rerank: Path, tmp_path: Path) -> None:
    """Ids and types of every golden pair count, cut pairs included; one other token is found."""
    head = read_head(tiny_rerank)
    pair, golden = head.manifest.contract.pair, head.fixture.cases
    assert pair is not None
    whole = open_tokenizer(ModelFolder.at(write_bert(tmp_path / "model")))
    check_joined(whole, pair, golden)
    first = golden[0]
    assert first.type_ids is not None
    turned = first.model_copy(update={"type_ids": tuple(row[::-1] for row in first.type_ids)})
    longer = first.model_copy(update={"input_ids": tuple((*r, 3) for r in first.input_ids)})
    for changed in (turned, longer):
        with pytest.raises(CheckFailed, match="case plain: the tokenizer joins its pair to "):
            check_joined(whole, pair, [changed])
