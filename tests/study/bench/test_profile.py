"""The share of each part of a model, from profiles by hand and one of ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polybake.runtime.embedder import Embedder
from polybake.study.bench.profile import (
    ACTIVATIONS,
    ATTENTION,
    NORMS,
    OTHER,
    OWN,
    PARTS,
    PRODUCTS,
    ROUNDING,
    TOKENISING,
    folded,
    part_of,
    where_time_goes,
)
from polybake.study.bench.workload import Workload

TEXTS = ("one", "two words", "and three more")


def node(
    name: str, operator: str, *shapes: list[int], weight: int = 0, ts: int = 0, dur: int = 1
) -> dict[str, Any]:
    arguments = {
        "op_name": operator,
        "parameter_size": str(weight),
        "input_type_shape": [{"float": shape} for shape in shapes],
    }
    return {"cat": "Node", "name": f"{name}_kernel_time", "ts": ts, "dur": dur, "args": arguments}


def run(ts: int, dur: int) -> dict[str, Any]:
    return {"cat": "Session", "name": "model_run", "ts": ts, "dur": dur, "args": {}}


LAYER = "encoder/layer.0"
X, HEADS = [2, 9, 384], [2, 12, 9, 32]


@pytest.mark.parametrize(
    ("event", "part"),
    [
        (node(f"{LAYER}/attention/self/key/MatMul_17", "MatMul", X), PRODUCTS),
        (node(f"{LAYER}/attention/self/key/Add_18", "Add", X, [384], weight=1536), PRODUCTS),
        (node(f"{LAYER}/output/dense/Gemm_1", "Gemm", X, [9, 9], weight=99), PRODUCTS),
        (node(f"{LAYER}/int8/node_9", "MatMulIntegerToFloat", X, [], weight=1), PRODUCTS),
        (node(f"{LAYER}/int4/node_9", "MatMulNBits", X, [1536, 24], weight=9), PRODUCTS),
        (node(f"{LAYER}/attention/self/MatMul_30", "FusedMatMul", HEADS, HEADS), ATTENTION),
        (node("fused", "MultiHeadAttention", X), ATTENTION),
        (node("softmax", "Softmax", HEADS), ATTENTION),
        (node(f"{LAYER}/attention/self/Transpose_25", "Transpose", HEADS), ATTENTION),
        (node("/model/layers.0/self_attn/Add_4", "Add", HEADS, HEADS), ATTENTION),
        (node(f"{LAYER}/attention/output/LayerNorm/node_36", "LayerNormalization", X), NORMS),
        (node("/model/layers.0/input_layernorm/Pow_2", "Pow", X), NORMS),
        (node("Gelu_token_0", "Gelu", X), ACTIVATIONS),
        (node("QuantizeLinear_8", "QuantizeLinear", X, weight=5), ROUNDING),
        (node(f"{LAYER}/attention/int8/node_Mul_13", "Mul", X, weight=4), ROUNDING),
        (node(f"{LAYER}/int8/node_Add_14", "Add", X, X, weight=9), ROUNDING),
        (node(f"{LAYER}/output/Add_35", "Sum", X, X), OTHER),
        (node("embeddings/Gather_0", "Gather", X, weight=9), OTHER),
    ],
)
def test_a_node_belongs_to_one_part(event: dict[str, Any], part: str) -> None:
    """Operator, module and whether it has weights decide a node's part."""
    assert part_of(event) == part


def test_only_the_later_half_counts() -> None:
    """The first half is the warm-up; time that no node explains is "other"."""
    events = [
        *(run(0, 900), node("a", "MatMul", X, ts=10, dur=800)),
        *(run(1000, 100), node("a", "MatMul", X, ts=1010, dur=60)),
        *(node("b", "If", ts=1070, dur=35), node("c", "Gelu", X, ts=1075, dur=30)),
    ]
    found = folded(events)
    assert found == pytest.approx(
        dict.fromkeys(PARTS, 0.0) | {PRODUCTS: 6e-5, ACTIVATIONS: 3e-5, OTHER: 1e-5}
    )


@pytest.mark.parametrize("single", [False, True])
def test_the_profile_of_a_run(
    every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, single: bool
) -> None:
    """Every part is there, none is negative, and no file stays behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    workload = Workload("own", "", TEXTS, single=single)
    found = where_time_goes(Embedder(every_feed), workload, 1)
    assert tuple(found) == PARTS
    assert min(found.values()) >= 0
    assert found[TOKENISING] > 0
    assert found[OWN] > 0
    assert found[OTHER] > 0
    assert found[ROUNDING] == 0
    assert list(tmp_path.iterdir()) == []
