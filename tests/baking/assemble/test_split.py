"""A tokenizer treats what lies between gaps by itself, or nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from models.files.task_models import write_answerer, write_labelled_tokens, write_tagger
from models.folders.tiny_folders import CONFIG
from polybake.baking.assemble.split import check_split
from polybake.baking.bake_config import bake_config
from polybake.base.modelfile.container import read_head
from polybake.config import Config
from polybake.errors import CheckFailed
from polybake.runtime.tokenization.tokenizer import BakedTokenizer


def across_gaps() -> Tokenizer:
    """A tokenizer that merges letters of two words."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "e", " ", "e "]
    made = Tokenizer(models.BPE({one: n for n, one in enumerate(tokens)}, [("e", " ")]))
    made.pre_tokenizer = pre_tokenizers.Split("\n", "isolated")
    return made


def test_golden_texts_are_compared(tmp_path: Path) -> None:
    """A tokenizer that joins words across gaps fails on golden texts and on contexts of pairs."""
    for write in (write_tagger, write_answerer):
        head = read_head(write(tmp_path / "tiny.onnx"))
        contract, golden = head.manifest.contract, head.fixture.cases
        check_split(BakedTokenizer.of(head.tokenizer, contract), golden)
        other = BakedTokenizer.of(across_gaps().to_str(), contract)
        with pytest.raises(CheckFailed, match=r"case plain: the tokenizer makes .* at white"):
            check_split(other, golden)
        (tmp_path / "tiny.onnx").unlink()


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
