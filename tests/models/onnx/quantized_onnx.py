"""ONNX encoders that ONNX Runtime's own tools quantized."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray


def quantize_dynamic(source: Path, out: Path) -> Path:
    """Write ``source`` as `onnxruntime.quantization.quantize_dynamic` quantizes it."""
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(source, out)
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
