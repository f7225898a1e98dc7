"""BERT's graph against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import CONFIG, Arrays, bert_weights, write_bert
from models.parts.tiny_encoders import token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

Floats = NDArray[np.float64]

IDS = np.array([[2, 6, 9, 17, 3], [2, 30, 3, 0, 0], [2, 3, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])

ERF = np.vectorize(math.erf)
ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "gelu": lambda x: x * (1 + ERF(x / math.sqrt(2))) / 2,
    "gelu_new": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "gelu_pytorch_tanh": lambda x: (
        x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    ),
    "relu": lambda x: np.where(x > 0, x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


def forward(weights: Arrays, config: dict[str, Any]) -> Floats:
    """BERT without pooler, in float64, one text at a time, so that nothing is padded."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    rows = np.zeros((*IDS.shape, config["hidden_size"]))
    for row, (ids, mask) in enumerate(zip(IDS, MASK, strict=True)):
        length = mask.sum()
        x = (
            w["embeddings.word_embeddings.weight"][ids[:length]]
            + w["embeddings.token_type_embeddings.weight"][0]
            + w["embeddings.position_embeddings.weight"][:length]
        )
        x = norm(x, w, "embeddings")
        for number in range(config["num_hidden_layers"]):
            x = layer(x, w, f"encoder.layer.{number}", config)
        rows[row, :length] = x
    return rows


def layer(x: Floats, w: Arrays, name: str, config: dict[str, Any]) -> Floats:
    query, key, value = (linear(x, w, f"{name}.attention.self.{p}") for p in QKV)
    size = config["hidden_size"] // config["num_attention_heads"]
    heads = []
    for head in range(config["num_attention_heads"]):
        part = slice(head * size, (head + 1) * size)
        scores = query[:, part] @ key[:, part].T / math.sqrt(size)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ value[:, part])
    mixed = linear(np.concatenate(heads, axis=1), w, f"{name}.attention.output.dense")
    x = norm(x + mixed, w, f"{name}.attention.output")
    wide = ACTIVATIONS[config["hidden_act"]](linear(x, w, f"{name}.intermediate.dense"))
    return norm(x + linear(wide, w, f"{name}.output.dense"), w, f"{name}.output")


QKV = ("query", "key", "value")


def linear(x: Floats, w: Arrays, name: str) -> Floats:
    result: Floats = x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
    return result


def norm(x: Floats, w: Arrays, name: str) -> Floats:
    centred = x - x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
    result: Floats = scaled * w[f"{name}.LayerNorm.weight"] + w[f"{name}.LayerNorm.bias"]
    return result


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_matches_numpy(activation: str, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, for each activation."""
    config = CONFIG | {"hidden_act": activation}
    folder = write_bert(tmp_path / "model", config)
    found = token_embeddings(folder, tmp_path, input_ids=IDS, attention_mask=MASK)
    expected = forward(bert_weights(config), config)
    assert np.abs((found - expected) * MASK[:, :, None]).max() < 1e-5
    assert np.abs(expected).max() > 0.3


def test_one_token_type(tmp_path: Path) -> None:
    """A checkpoint with a single token type takes type 0, as every other does."""
    config = CONFIG | {"type_vocab_size": 1}
    folder = write_bert(tmp_path / "model", config)
    found = token_embeddings(folder, tmp_path, input_ids=IDS, attention_mask=MASK)
    expected = forward(bert_weights(config), config)
    assert np.abs((found - expected) * MASK[:, :, None]).max() < 1e-5


def test_initializers_are_the_checkpoint(tmp_path: Path) -> None:
    """Every weight of the checkpoint is one initializer under its own name."""
    folder = write_bert(tmp_path / "model")
    reference = open_source(folder).encoder.reference(tmp_path)
    names = {tensor.name for tensor in onnx.load(reference.path).graph.initializer}
    assert {name for name in names if "." in name and not name.startswith("const_")} == set(
        bert_weights()
    )


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("position_embedding_type", "relative_key", "position_embedding_type"),
        ("hidden_act", "mish", "'mish'; known are: gelu"),
        ("num_attention_heads", 5, "no multiple of num_attention_heads 5"),
        ("num_hidden_layers", 0, "num_hidden_layers"),
        ("num_hidden_layers", 10**12, "num_hidden_layers"),
        ("hidden_size", "12", "hidden_size"),
        ("is_decoder", True, "is_decoder"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside BERT's formula is an error that names the key."""
    folder = write_bert(tmp_path / "model")
    write_bert(folder, CONFIG | {key: value}, bert_weights())
    with pytest.raises(InputError, match=shown.replace("(", r"\(")):
        open_source(folder)


def test_every_size_of_the_graph_has_a_name(tmp_path: Path) -> None:
    """Tools that plan memory or optimize offline need batch and sequence to the last value."""
    reference = open_source(write_bert(tmp_path / "model")).encoder.reference(tmp_path)
    graph = onnx.load(reference.path).graph
    stated = {value.name: value.type.tensor_type.shape.dim for value in graph.value_info}
    inner = {name for node in graph.node for name in node.output}
    inner -= {value.name for value in graph.output}
    assert inner <= stated.keys()
    names = {size.dim_param for sizes in stated.values() for size in sizes if not size.dim_value}
    assert names == {"batch", "sequence"}


def test_the_offline_optimizer_finds_every_attention(tmp_path: Path) -> None:
    """Users of GPUs run it; it knows one order of the mask's operators."""
    from onnxruntime.transformers import optimizer

    config = CONFIG | {"num_hidden_layers": 3}
    reference = open_source(write_bert(tmp_path / "model", config)).encoder.reference(tmp_path)
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    found = optimizer.optimize_model(str(reference.path), "bert", heads, hidden, opt_level=0)
    assert found.get_fused_operator_statistics()["Attention"] == 3
