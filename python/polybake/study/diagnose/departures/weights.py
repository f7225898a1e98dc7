"""Departures of weights: stored, or multiplied, in a narrower type."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray

from polybake.base.modelfile.manifest import Contract
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.stored import int8
from polybake.study.diagnose.way import ALL, Way

#: How files of dynamic int8 are made: arguments of quantize_dynamic. Optimum leaves embeddings.
#: Sources: ONNX Runtime 1.31 quantize_dynamic, its defaults; transformers.js 3 and 2,
#: scripts/quantize.py and convert.py; Optimum AutoQuantizationConfig, arm64 and avx512, and avx2.
_PRODUCTS = {"per_channel": True, "op_types_to_quantize": ["MatMul", "Add"]}
#: Each has the difference that it makes to MiniLM.
_DYNAMIC: dict[str, tuple[float, dict[str, Any]]] = {
    "a scale a matrix": (0.07, {}),
    "a scale a matrix, no sign": (0.055, {"weight_type": "QUInt8"}),
    "a scale a channel, 7 bits": (0.033, {"per_channel": True, "reduce_range": True}),
    "a scale a channel, products alone": (0.036, _PRODUCTS),
    "a scale a channel, products alone, no sign": (
        0.03,
        {**_PRODUCTS, "weight_type": "QUInt8", "extra_options": {"WeightSymmetric": True}},
    ),
}

#: Texts per batch: dynamic int8 takes the range of numbers of a whole batch.
_BATCHES = {1: "a text at a time", 32: "in batches of 32 texts", ALL: "in batches of several texts"}


def departures(contract: Contract, count: int) -> Iterator[Departure]:
    """Yield the departures of weights and of arithmetic."""
    kinds = (("float16", np.float16, 1.2e-4), ("bfloat16", ml_dtypes.bfloat16, 1.3e-3))
    for name, kind, leaves in kinds:
        way = Way(graph=partial(_stored, kind))
        yield Departure(f"stores the weights as {name}", way, leaves=leaves)
    way = Way(graph=_int8_weights)
    yield Departure("rounds the weights to int8, a scale a matrix", way, leaves=0.07)
    way = Way(graph=partial(_float16, contract))
    yield Departure("computes in float16", way, slow=True, leaves=1.5e-4)
    for weights, (leaves, options) in _DYNAMIC.items():
        graph = partial(_dynamic_int8, options)
        for size, how in _BATCHES.items():
            if size < count or size in (1, ALL):
                name = f"computes in dynamic int8 ({weights}), {how}"
                yield Departure(name, Way(batch=size, graph=graph), slow=True, leaves=leaves)


def _stored(kind: Any, model: onnx.ModelProto) -> onnx.ModelProto:
    return _rounded(model, lambda array: array.astype(kind).astype(np.float32))


def _int8_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    return _rounded(model, int8)


def _rounded(model: onnx.ModelProto, change: Any) -> onnx.ModelProto:
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) > 1:
            array: NDArray[Any] = change(onnx.numpy_helper.to_array(tensor))
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return model


def _float16(contract: Contract, model: onnx.ModelProto) -> onnx.ModelProto:
    from onnxscript import ir  # takes seconds

    from polybake.baking.quantization.float16 import narrow

    graph = ir.from_proto(model)
    with tempfile.TemporaryDirectory() as folder:
        narrow(graph, contract, [[0]], Path(folder))
    return ir.to_proto(graph)


def _dynamic_int8(options: dict[str, Any], model: onnx.ModelProto) -> onnx.ModelProto:
    """Quantize a graph like most files named ``model_quantized.onnx``."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    kind = QuantType[options.get("weight_type", "QInt8")]
    logging.getLogger().addFilter(_quiet := lambda _: False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            quantize_dynamic(model, path, **{**options, "weight_type": kind})
            return onnx.load(path)
    finally:
        logging.getLogger().removeFilter(_quiet)
