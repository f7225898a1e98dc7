"""Weights of tokens without an encoder, alone and beside one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import polybake
from models.files.task_models import write_splade
from models.folders.tiny_folders import VOCABULARY, write_json, write_router, write_tokenizer
from polybake.errors import InputError

WEIGHTS = np.linspace(-1, 2, len(VOCABULARY)).astype(np.float32)
MODULES = "sentence_transformers.sparse_encoder.modules"


def write_static(folder: Path, weights: np.ndarray = WEIGHTS) -> Path:
    """The module's own folder."""
    folder.mkdir(parents=True)
    write_tokenizer(folder)
    write_json(folder / "config.json", {"frozen": False})
    save_file({"weight": weights}, folder / "model.safetensors")
    return folder


def write_alone(folder: Path, weights: np.ndarray = WEIGHTS) -> Path:
    """A model of nothing else."""
    write_static(folder, weights)
    kind = f"{MODULES}.sparse_static_embedding.SparseStaticEmbedding"
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    write_json(folder / "config_sentence_transformers.json", {"model_type": "SparseEncoder"})
    return folder


def write_beside(folder: Path) -> Path:
    """A model that runs an encoder for documents alone."""
    write_splade(folder / "1_Transformer", prompts={"query": "", "document": ""})
    write_static(folder / "query")
    types = {
        "query": f"{MODULES}.sparse_static_embedding.SparseStaticEmbedding",
        "1_Transformer": "sentence_transformers.base.modules.transformer.Transformer",
        "1_Transformer/1_SpladePooling": f"{MODULES}.splade_pooling.SpladePooling",
    }
    routes = {"query": ["query"], "document": list(types)[1:]}
    write_router(folder, routes, types, default_route="document")
    kind = "sentence_transformers.base.modules.router.Router"
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    write_json(folder / "config_sentence_transformers.json", {"model_type": "SparseEncoder"})
    return folder


def expected(*tokens: str) -> np.ndarray:
    found = np.zeros(len(VOCABULARY))
    for token in tokens:
        found[VOCABULARY.index(token)] = WEIGHTS[VOCABULARY.index(token)]
    return found


def test_each_token_counts_once(tmp_path: Path) -> None:
    """There are no special tokens, but for those that a text has itself."""
    polybake.bake(write_alone(tmp_path / "m"), tmp_path / "tiny.onnx")
    model = polybake.Embedder(tmp_path / "tiny.onnx")
    assert model.manifest.contract.task == "sparse"
    found = model.embed(["the river the", "[SEP] boat", ""])
    wanted = [expected("the", "river"), expected("[SEP]", "boat"), expected()]
    assert found == pytest.approx(np.array(wanted), abs=1e-6)


def test_beside_an_encoder(tmp_path: Path) -> None:
    """Queries take the weights, without the special tokens that the encoder's texts have."""
    polybake.bake(write_beside(tmp_path / "m"), tmp_path / "tiny.onnx")
    polybake.bake(write_splade(tmp_path / "alone", prompts={}), tmp_path / "alone.onnx")
    model, alone = (polybake.Embedder(tmp_path / f"{name}.onnx") for name in ("tiny", "alone"))
    texts = ["the river the", "[SEP] boat", ""]
    wanted = [expected("the", "river"), expected("[SEP]", "boat"), expected()]
    assert model.embed(texts, prompt="query") == pytest.approx(np.array(wanted), abs=1e-6)
    assert model.embed(texts, prompt="document") == pytest.approx(alone.embed(texts), abs=1e-6)


def test_less_weights_than_tokens_are_refused(tmp_path: Path) -> None:
    """With what was found."""
    with pytest.raises(InputError, match=r"weight is \[9\], expected a finite number for each of"):
        polybake.bake(write_alone(tmp_path / "m", WEIGHTS[:9]), tmp_path / "tiny.onnx")


def test_a_file_of_weights_is_not_read(tmp_path: Path) -> None:
    """It would be a path of the configuration's choice."""
    folder = write_alone(tmp_path / "m")
    write_json(folder / "config.json", {"path": "../idf.json"})
    with pytest.raises(InputError, match="path"):
        polybake.bake(folder, tmp_path / "tiny.onnx")
