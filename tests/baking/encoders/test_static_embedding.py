"""Static embeddings against their formula: row = embeddings[mapping[id]] * weights[id]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime as ort
import pytest
from safetensors.numpy import save_file

from polybake.baking.encoders.static_embedding import StaticEmbedding
from polybake.baking.sources.static_encoder import StaticEncoder
from polybake.errors import InputError

RANDOM = np.random.default_rng(5)
TABLE = RANDOM.normal(0, 0.2, (4, 3)).astype(np.float32)
MAPPING = np.array([3, 0, 0, 2, 1, 3])
WEIGHTS = RANDOM.uniform(0.5, 2, 6).astype(np.float32)
IDS = np.array([[0, 5, 1, 3], [2, 2, 0, 1]])


def embed(folder: Path, tensors: dict[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Save the tensors, build the encoder, and run it."""
    save_file(tensors, folder / "model.safetensors")
    module = StaticEmbedding.load(folder / "model.safetensors")
    written = StaticEncoder("static_embedding", lambda: module).reference(folder)
    session = ort.InferenceSession(str(written.path), providers=["CPUExecutionProvider"])
    fed = {"input_ids": IDS, "attention_mask": np.ones_like(IDS)}
    (found,) = session.run([written.output], fed)
    assert found.dtype == np.float32
    return np.asarray(found)


@pytest.mark.parametrize("mapping", [None, np.int64, np.int32])
@pytest.mark.parametrize("weights", [None, np.float32, np.float64])
def test_rows_are_looked_up(tmp_path: Path, mapping: Any, weights: Any) -> None:
    """A mapping and weights are used where the file has them."""
    table = TABLE if mapping else RANDOM.normal(0, 0.2, (6, 3)).astype(np.float32)
    tensors = {"embeddings": table}
    rows, factors = np.arange(6), np.ones(6)
    if mapping:
        tensors["mapping"] = rows = MAPPING.astype(mapping)
    if weights:
        tensors["weights"] = factors = WEIGHTS.astype(weights)
    expected = [[table[rows[one]] * factors[one] for one in row] for row in IDS]
    assert embed(tmp_path, tensors) == pytest.approx(np.array(expected), abs=1e-7)


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.bfloat16])
@pytest.mark.parametrize("name", ["embedding.weight", "embeddings"])
def test_rows_are_widened(tmp_path: Path, dtype: Any, name: str) -> None:
    """Rows of every other type become the float32 numbers that they are."""
    table = (RANDOM.normal(0, 40, (6, 3))).astype(dtype)
    expected = table.astype(np.float32)[IDS]
    assert np.array_equal(embed(tmp_path, {name: table}), expected)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"linear.weight": TABLE}, "holds linear.weight; expected embedding.weight, or"),
        (
            {"embedding.weight": TABLE, "scale": WEIGHTS},
            "holds embedding.weight, scale; expected embedding.weight, or",
        ),
        ({"embeddings": TABLE, "bias": WEIGHTS}, "holds bias, embeddings; expected"),
        ({"embeddings": TABLE[0]}, "embeddings is F32 [3], expected 2 axes"),
        ({"embeddings": TABLE.astype(np.int32)}, "embeddings is I32 [4, 3], expected 2 axes"),
        ({"embeddings": TABLE, "mapping": WEIGHTS}, "mapping is F32 [6], expected 1 axes of I64"),
        ({"embeddings": TABLE, "weights": WEIGHTS[:3]}, "has weights of 3 ids and embeddings of 4"),
        (
            {"embeddings": TABLE, "mapping": MAPPING, "weights": WEIGHTS[:5]},
            "has weights of 5 ids and embeddings of 6",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuses_what_is_no_static_embedding(
    tmp_path: Path, tensors: dict[str, np.ndarray[Any, Any]], message: str
) -> None:
    """Unexpected tensors, shapes and types are named."""
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(InputError) as error:
        StaticEmbedding.load(tmp_path / "model.safetensors")
    assert message in str(error.value)
