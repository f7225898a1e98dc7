"""ALBERT as a BERT whose layers repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.parts.tiny_encoders import Floats, renamed, token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

FED = {
    "input_ids": np.array([[2, 6, 9, 17, 3], [2, 30, 3, 0, 0]]),
    "attention_mask": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
}
ALBERT: dict[str, Any] = CONFIG | {
    "model_type": "albert",
    "embedding_size": 12,
    "hidden_act": "gelu_new",
}
NAMES = (
    ("attention.output.LayerNorm", "attention.LayerNorm"),
    ("attention.output.dense", "attention.dense"),
    ("attention.self.", "attention."),
    ("intermediate.dense", "ffn"),
    ("output.dense", "ffn_output"),
    ("output.LayerNorm", "full_layer_layer_norm"),
)
GROUPS = "encoder.albert_layer_groups"


def albert_weights(weights: dict[str, Floats], *places: tuple[str, str]) -> dict[str, Floats]:
    """BERT's weights at these places, under a projection that changes nothing."""
    mapping = "encoder.embedding_hidden_mapping_in"
    unchanged = {f"{mapping}.weight": np.eye(12), f"{mapping}.bias": np.zeros(12)}
    changed = {name: array.astype(np.float32) for name, array in unchanged.items()}
    return changed | renamed(weights, *places, *NAMES)


@pytest.mark.parametrize(
    ("groups", "inner", "layers", "order"),
    [(1, 1, 3, [0, 0, 0]), (2, 1, 5, [0, 0, 0, 1, 1]), (1, 2, 2, [0, 1, 0, 1])],
)
def test_is_bert_with_repeated_layers(
    groups: int, inner: int, layers: int, order: list[int], tmp_path: Path
) -> None:
    """Groups are used for equal runs of layers, each of their inner layers in turn."""
    stored = max(order) + 1
    weights = bert_weights(CONFIG | {"num_hidden_layers": stored})
    places = [
        (f"encoder.layer.{n}.", f"{GROUPS}.{n // inner}.albert_layers.{n % inner}.")
        for n in range(stored)
    ]
    config = {"num_hidden_layers": layers, "num_hidden_groups": groups, "inner_group_num": inner}
    folder = tmp_path / "albert"
    write_bert(folder, ALBERT | config, albert_weights(weights, *places))
    found = token_embeddings(folder, tmp_path, **FED)
    unrolled = {name: array for name, array in weights.items() if "layer." not in name} | {
        name.replace(f"layer.{layer}.", f"layer.{place}."): array
        for place, layer in enumerate(order)
        for name, array in weights.items()
        if f"layer.{layer}." in name
    }
    settings = {"hidden_act": "gelu_new", "num_hidden_layers": len(order)}
    bert = write_bert(tmp_path / "bert", CONFIG | settings, unrolled)
    np.testing.assert_allclose(found, token_embeddings(bert, tmp_path, **FED), atol=1e-6)


def test_shared_weights_are_stored_once(tmp_path: Path) -> None:
    """A graph of twelve layers in one group has one initializer for each of its weights."""
    place = ("encoder.layer.0.", f"{GROUPS}.0.albert_layers.0.")
    weights = albert_weights(bert_weights(CONFIG | {"num_hidden_layers": 1}), place)
    folder = write_bert(tmp_path / "model", ALBERT | {"num_hidden_layers": 12}, weights)
    reference = open_source(folder).encoder.reference(tmp_path)
    names = [tensor.name for tensor in onnx.load(reference.path).graph.initializer]
    assert sorted(name for name in names if name in weights) == sorted(weights)


@pytest.mark.parametrize(
    ("key", "value"),
    [("num_hidden_groups", 0), ("inner_group_num", 10**9), ("hidden_act", "mish")],
)
def test_refuses_what_it_does_not_compute(key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", ALBERT | {key: value}, bert_weights())
    with pytest.raises(InputError, match=f"config.json: {key}: "):
        open_source(folder)
