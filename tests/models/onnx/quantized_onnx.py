"""ONNX encoders that ONNX Runtime's own tools quantized, and their weights in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.numpy_helper import from_array, to_array

Floats = NDArray[np.float32]


def quantize_dynamic(source: Path, out: Path, *, signed: bool = True, **options: Any) -> Path:
    """Write ``source`` as `onnxruntime.quantization.quantize_dynamic` quantizes it."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    kind = QuantType.QInt8 if signed else QuantType.QUInt8
    quantize_dynamic(source, out, weight_type=kind, **options)
    return out


def widened(path: Path) -> dict[str, Floats]:
    """The quantized weights of a file: ``(integers - zero) * scale``, by their name before."""
    found = {one.name: to_array(one) for one in onnx.load(path).graph.initializer}
    weights = {}
    for name, integers in found.items():
        if name.endswith("_quantized"):
            before = name.removesuffix("_quantized")
            zero = found[f"{before}_zero_point"].astype(np.int64)
            weights[before] = (integers.astype(np.int64) - zero) * found[f"{before}_scale"]
    return {name: array.astype(np.float32) for name, array in weights.items()}


def with_weights(source: Path, weights: dict[str, Floats], out: Path) -> Path:
    """Write ``source`` with other weights of the same names."""
    model = onnx.load(source)
    for one in model.graph.initializer:
        if one.name in weights:
            one.CopyFrom(from_array(weights[one.name], one.name))
    onnx.save(model, out)
    return out


def calibrated(source: Path, out: Path, form: str) -> Path:
    """Write ``source`` as `quantize_static` quantizes its products, by texts of random ids."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    random = np.random.default_rng(0)
    inputs = [value.name for value in onnx.load(source).graph.input]

    class Texts(CalibrationDataReader):
        def __init__(self) -> None:
            rows = [random.integers(5, 40, (1, size)) for size in range(3, 12)]
            self.feeds = iter(
                {name: row if name == "input_ids" else np.ones_like(row) for name in inputs}
                for row in rows
            )

        def get_next(self) -> dict[str, NDArray[np.int64]] | None:
            return next(self.feeds, None)

    kinds = ["MatMul", "Gather"] if form == "QDQ" else ["MatMul"]
    quantize_static(
        source, out, Texts(), quant_format=QuantFormat[form], op_types_to_quantize=kinds
    )
    return out
