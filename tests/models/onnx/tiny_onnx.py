"""ONNX encoders in a few lines of ONNX text, with a tokenizer beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from numpy.typing import NDArray

from models.folders.tiny_folders import VOCABULARY, write_tokenizer

HIDDEN = 6
TABLE: NDArray[np.float32] = (
    np.random.default_rng(2).normal(size=(len(VOCABULARY), HIDDEN)).astype(np.float32)
)

INPUTS = "int64[batch_size, length] input_ids, int64[batch_size, length] attention_mask"
TOKENS = f"float[batch_size, length, {HIDDEN}] last_hidden_state"
POOLED = f"float[batch_size, {HIDDEN}] pooler_output"

#: The embedding of a token is tanh of its row; the pooled vector is the mean over kept tokens.
BODY = """
    rows = Gather (table, input_ids)
    last_hidden_state = Tanh (rows)
    kept = Cast <to = 1> (attention_mask)
    column = Unsqueeze <axes = [2]> (kept)
    weighted = Mul (last_hidden_state, column)
    total = ReduceSum <axes = [1], keepdims = 0> (weighted)
    count = ReduceSum <axes = [1], keepdims = 0> (column)
    pooler_output = Div (total, count)
"""


def encoder(
    *,
    inputs: str = INPUTS,
    outputs: str = TOKENS,
    body: str = BODY,
    opset: int = 12,
    ir_version: int = 8,
    domains: str = "",
) -> onnx.ModelProto:
    """Parse the encoder and give it its table."""
    model = onnx.parser.parse_model(
        f'<ir_version: {ir_version}, opset_import: ["" : {opset}{domains}]>\n'
        f"encoder ({inputs}) => ({outputs}) {{{body}}}"
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(TABLE, "table"))
    return model


def write_encoder(folder: Path, model: onnx.ModelProto | None = None, **options: object) -> Path:
    """Write model.onnx and its tokenizer; return the file's path."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(encoder() if model is None else model, folder / "model.onnx", **options)
    write_tokenizer(folder)
    return folder / "model.onnx"


def expected_tokens(ids: list[int]) -> NDArray[np.float64]:
    """What the encoder gives for one row of ids."""
    result: NDArray[np.float64] = np.tanh(TABLE[ids].astype(np.float64))
    return result
