"""Check whether a graph fits into one file, and which settings would fit."""

from contextlib import suppress
from pathlib import Path

from onnxscript import ir

from polybake.baking.graph.storage import token_tables, wide_weights
from polybake.baking.graph.write import serialize
from polybake.baking.quantization.blocks import BITS
from polybake.baking.quantization.embedding_tables import table_of
from polybake.baking.quantization.matmuls import groups
from polybake.base.modelfile import container
from polybake.base.modelfile.manifest import Contract, Precision
from polybake.base.modelfile.size_limit import LARGEST_FILE
from polybake.base.modelfile.weights import weights_name
from polybake.errors import InputError


def check_fits(
    model: ir.Model,
    precision: Precision,
    contract: Contract,
    out: Path,
    largest: int = LARGEST_FILE,
) -> None:
    """Refuse a graph that is too large for one file, before any of its weights is read.

    A checkpoint's weights may all fit into 16 bits, so half their size is assumed.
    """
    size = {"int8": _int8, "int4": _int4}.get(precision, _half)(model)
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


def check_place(out: Path) -> Path | None:
    """Check that an existing file is an earlier bake, which may be overwritten.

    Returns:
        The weights of the earlier bake, where they lie beside it under its own name.
    """
    if out.exists() and not (out.is_file() and container.is_baked(out)):
        raise InputError(
            f"{out}: is there already, and is no file that polybake wrote; "
            "choose another --output, or remove it"
        )
    with suppress(InputError):  # there is none, or it lacks its weights
        weights = container.read_head(out).manifest.weights
        if weights is not None and weights.file == weights_name(out.stem, weights.sha256):
            return out.with_name(weights.file)
    return None


def int8_saves(model: ir.Model) -> int:
    """How many bytes of weights, about, `int8.quantize` saves of ``model``."""
    return _saves(model, 8)


def int4_saves(model: ir.Model) -> int:
    """How many bytes of weights, about, `int4.quantize` saves of ``model``."""
    return _saves(model, BITS)


def _saves(model: ir.Model, bits: float) -> int:
    """Of matmuls with ``bits`` a weight, and tables of eight."""
    matmuls = {matmul.weight for group in groups(model.graph) for matmul in group.layers[0]}
    tables = {table for node in model.graph if (table := table_of(node)) is not None}
    saved = int(_bytes(matmuls) * (1 - bits / 32))
    return saved + 3 * _bytes(tables - matmuls) // 4


def _bytes(weights: set[ir.Value]) -> int:
    return sum(weight.const_value.nbytes for weight in weights if weight.const_value)
