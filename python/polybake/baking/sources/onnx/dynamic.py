"""Refuse a dynamically quantized ONNX encoder, or rebuild it if requested."""

from pathlib import Path

from onnxscript import ir

from polybake.baking.quantization.dequantize import Rebuilt, dequantize, dynamic_nodes
from polybake.errors import InputError


def refuse_dynamic(model: ir.Model, path: Path) -> None:
    """Refuse an encoder whose vectors depend on the batch.

    Raises:
        InputError: The encoder was quantized dynamically.
    """
    found = len(list(dynamic_nodes(model)))
    if found:
        raise InputError(
            f"{path}: was quantized dynamically in {found} places, which find one range for a "
            "whole batch, so that a text's vector changes with the texts beside it; give the "
            "float32 file, or set dequantize = true in [model] (--dequantize), which rebuilds it "
            "in float32"
        )


def rebuild_dynamic(model: ir.Model, path: Path) -> Rebuilt:
    """Rebuild a dynamically quantized encoder in float32, in place.

    Raises:
        InputError: The encoder was not quantized dynamically, or in an unknown way.
    """
    if not any(dynamic_nodes(model)):
        raise InputError(
            f"{path}: holds nothing that was quantized dynamically; leave out dequantize"
        )
    try:
        return dequantize(model)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
