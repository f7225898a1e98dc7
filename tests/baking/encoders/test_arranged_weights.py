"""Weights that stand otherwise in a checkpoint than in the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import pytest

from models.bake import bake
from models.folders.drawn import DRAWN, STEPS, drawn_weights
from models.folders.tiny_folders import Arrays, write_bert
from models.formulas import jina_v3_numpy, nomic_moe_numpy
from models.formulas.rotary_numpy import HIDDEN, WIDE, weights_of
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.files.model_folder import SourceSettings
from polybake.errors import InputError
from support.samples.weekly import weekly_but

ADAPTED = jina_v3_numpy.CONFIG
LAYER = "roberta.encoder.layers.1.mlp.fc1.parametrizations.weight"
TABLE = "roberta.embeddings.word_embeddings.parametrizations.weight"
FUSED = "encoder.layer.0.attention.self.in_proj.weight"
VOYAGE = {"architectures": ["Qwen3BidirectionalModel"], "num_labels": 7}


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


@pytest.mark.parametrize(
    ("kind", "changes", "shown"),
    [
        ("adapters", {f"{LAYER}.0.lora_A": None}, r"layers\.1\.mlp\.fc1 lacks weights of adapters"),
        ("adapters", {f"{TABLE}.original": None}, "holds no adapters"),
        ("adapters", {f"{LAYER}.0.lora_A": ones(3, 3, 24)}, r"do not fit: .*lora_A \[3, 3, 24\]"),
        ("adapters", {f"{LAYER}.0.lora_B": ones(2, 28, 2)}, r"do not fit: .*lora_B \[2, 28, 2\]"),
        ("adapters", {"roberta.lora.weight": ones(3)}, r"unexpected lora\.weight"),
        ("deberta", {FUSED: ones(383, 128)}, f"unexpected {FUSED}"),
        ("experts", {}, r"unexpected encoder.layers.1.mlp.experts.mlp.w1"),
        ("voyage", {}, r"missing linear\.weight"),
    ],
)
def test_what_does_not_fit_is_named(
    kind: str, changes: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """As it is stored: a part that is missing, another one, or one of another size."""
    made: dict[str, tuple[dict[str, Any], Arrays]] = {
        "adapters": (ADAPTED, jina_v3_numpy.weights()),
        "deberta": (DRAWN["deberta"] | {"model_type": "deberta"}, drawn_weights("deberta")),
        "experts": (nomic_moe_numpy.CONFIG | {"num_experts": 4}, nomic_moe_numpy.weights()),
        "voyage": (DRAWN["qwen3"] | VOYAGE | {"model_type": "qwen3"}, drawn_weights("qwen3")),
    }
    config, weights = made[kind]
    weights = {name: array for name, array in (weights | changes).items() if array is not None}
    folder = write_bert(tmp_path / "model", config, weights)
    with pytest.raises(InputError, match=shown):
        open_source(
            folder, SourceSettings(adapter="separation" if kind == "adapters" else None)
        ).encoder.place()


def test_an_adapter_where_there_is_none(tmp_path: Path) -> None:
    """The known ones are listed, of which there may be none."""
    left_out = ("lora_adaptations", "task_instructions")
    config = {key: value for key, value in ADAPTED.items() if key not in left_out}
    folder = write_bert(tmp_path / "model", config, jina_v3_numpy.weights())
    with pytest.raises(InputError, match="known are: none, so leave it out"):
        open_source(folder, SourceSettings(adapter="query"))


@pytest.mark.slow
@pytest.mark.parametrize("precision", weekly_but(1, ["int8", "int4", "float16"]))
def test_experts_are_products_as_others(
    precision: Literal["int8", "int4", "float16"], tmp_path: Path
) -> None:
    """Their weights take another type, and rows that few tokens reach are bounded as all are."""
    sizes = {"n_embd": 128, "n_inner": 192, "num_experts": 2, "moe_top_k": 1}
    folder = write_bert(tmp_path / "model", nomic_moe_numpy.CONFIG | sizes, larger(sizes))
    source = open_source(folder)
    steps = resolve(STEPS, base=tmp_path, source=source)
    out = tmp_path / "tiny.onnx"
    report = bake(source, steps, out, name="tiny", precision=precision)
    assert report.manifest.deviation is not None
    assert report.manifest.deviation.mean_cosine > 0.98
    large = [one for one in onnx.load(out).graph.initializer if np.prod(one.dims) >= 1 << 13]
    experts = [one.data_type for one in large if ".experts.mlp." in one.name]
    assert len(experts) == 2 * 2 * 2
    assert onnx.TensorProto.FLOAT not in experts


def larger(sizes: dict[str, int]) -> Arrays:
    """A checkpoint whose products are worth another type; their spread keeps the size."""
    change = {HIDDEN: sizes["n_embd"], WIDE: sizes["n_inner"], 3 * HIDDEN: 3 * sizes["n_embd"]}
    change[nomic_moe_numpy.EXPERTS] = sizes["num_experts"]
    change[nomic_moe_numpy.EXPERTS * WIDE] = sizes["num_experts"] * sizes["n_inner"]
    shapes = {
        name: tuple(change.get(size, size) for size in array.shape)
        for name, array in nomic_moe_numpy.weights().items()
    }
    return {
        name: array * np.float32(0.4 if array.ndim == 2 else 1)
        for name, array in weights_of(shapes).items()
    }
