"""Whether a graph fits into one file, and what would."""

from pathlib import Path

from onnxscript import ir

from polybake.baking.assemble.lower import Lowering
from polybake.baking.graph.storage import wide_weights
from polybake.baking.graph.write import serialize
from polybake.baking.quantization.int8 import int8_saves
from polybake.base.modelfile.container import LARGEST_FILE
from polybake.errors import InputError


def check_fits(model: ir.Model, lowering: Lowering, out: Path) -> None:
    """Refuse a graph that is too large for one file, before any weight of it is read.

    A checkpoint's weights may all turn out to fit into 16 bits, so they are taken for half.

    Raises:
        InputError: with the settings that would fit, and the bytes that each gives.
    """
    half = _half(model)
    size = _int8(model) if lowering.precision == "int8" else half
    if size > LARGEST_FILE:
        raise too_large(model, size, out)


def too_large(model: ir.Model, size: int, out: Path) -> InputError:
    """What to say of a file that would have ``size`` bytes."""
    choices = {'storage = "float16"': _half(model), 'precision = "int8"': _int8(model)}
    fitting = [
        f"{choice} ({bytes_ / 1e9:.1f} GB)"
        for choice, bytes_ in choices.items()
        if bytes_ <= LARGEST_FILE and bytes_ < size
    ]
    remedy = f"set {' or '.join(fitting)} in [model]" if fitting else "choose a smaller model"
    return InputError(
        f"{out}: would have {size} bytes, and one ONNX file holds at most {LARGEST_FILE}; {remedy}"
    )


def _half(model: ir.Model) -> int:
    wide = sum(tensor.nbytes for _, tensor in wide_weights(model))
    return serialize(model).size - wide // 2


def _int8(model: ir.Model) -> int:
    return serialize(model).size - int8_saves(model)
