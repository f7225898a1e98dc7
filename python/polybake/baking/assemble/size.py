"""Check whether a graph fits into one file, and which settings would fit."""

from pathlib import Path

from onnxscript import ir

from polybake.baking.assemble.lower import Lowering
from polybake.baking.graph.storage import token_tables, wide_weights
from polybake.baking.graph.write import serialize
from polybake.baking.quantization.saved import int4_saves, int8_saves
from polybake.base.modelfile.container import LARGEST_FILE
from polybake.base.modelfile.manifest import Contract
from polybake.errors import InputError


def check_fits(
    model: ir.Model, lowering: Lowering, contract: Contract, out: Path, largest: int = LARGEST_FILE
) -> None:
    """Refuse a graph that is too large for one file, before any of its weights is read.

    A checkpoint's weights may all fit into 16 bits, so half their size is assumed.

    Raises:
        InputError: The graph is too large; the message lists the settings that would fit.
    """
    size = {"int8": _int8, "int4": _int4}.get(lowering.precision, _half)(model)
    if size > largest:
        raise too_large(model, size, contract, out, largest)


def too_large(
    model: ir.Model, size: int, contract: Contract, out: Path, largest: int = LARGEST_FILE
) -> InputError:
    """Return the error for a file that would have ``size`` bytes."""
    choices = {
        'storage = "float16-table"': _half_table(model, contract),
        'storage = "float16"': _half(model),
        'precision = "int8"': _int8(model),
        'precision = "int4"': _int4(model),
    }
    fitting = ['weights = "beside"']
    fitting += [
        f"{choice} ({bytes_ / 1e9:.1f} GB)"
        for choice, bytes_ in choices.items()
        if bytes_ <= largest and bytes_ < size
    ]
    return InputError(
        f"{out}: would have {size} bytes, and one ONNX file holds at most {largest}; set "
        f"{' or '.join(fitting)} in [model]"
    )


def _half(model: ir.Model) -> int:
    wide = sum(tensor.nbytes for _, tensor in wide_weights(model))
    return serialize(model).size - wide // 2


def _half_table(model: ir.Model, contract: Contract) -> int:
    tables = sum(tensor.nbytes for _, tensor in token_tables(model, contract.vocab_size))
    return serialize(model).size - tables // 2


def _int8(model: ir.Model) -> int:
    return serialize(model).size - int8_saves(model)


def _int4(model: ir.Model) -> int:
    return serialize(model).size - int4_saves(model)
