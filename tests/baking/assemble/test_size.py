"""Graphs that are too large for one file, of which no weight is read."""

from pathlib import Path

import pytest
from onnxscript import GraphBuilder, ir

from polybake.baking.assemble.lower import Lowering
from polybake.baking.assemble.size import check_fits
from polybake.baking.layers.network import new_model
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import InputError

ROWS = 1000
CONTRACT = Contract(
    inputs=(Input(name="ids", feed="input_ids"),),
    output=Output(name="product", dimension=300),
    vocab_size=ROWS,
    max_length=8,
    pad_id=0,
)


def model() -> ir.Model:
    """A token table of 1.2 MB, and a product with a weight of 0.36 MB."""
    built = new_model()
    builder = GraphBuilder(built.graph)
    ids = builder.input("ids", ir.DataType.INT64, ["n"])
    rows = builder.op.Gather(builder.initializer(unread([ROWS, 300]), "table"), ids)
    product = builder.op.MatMul(rows, builder.initializer(unread([300, 300]), "weight"))
    builder.add_output(product, "product")
    return built


def unread(shape: list[int]) -> ir.LazyTensor:
    return ir.LazyTensor(lambda: pytest.fail("was read"), ir.DataType.FLOAT, ir.Shape(shape))


BOTH = (
    r'set weights = "beside" or precision = "int8" \(0\.0 GB\) or precision = "int4" \(0\.0 GB\) '
    r"in \[model\]"
)


@pytest.mark.parametrize(
    ("largest", "remedies"),
    [
        (700_000, BOTH),
        (375_000, r'set weights = "beside" or precision = "int4" \(0\.0 GB\) in \[model\]'),
        (200_000, r'set weights = "beside" in \[model\]'),
    ],
)
def test_the_settings_that_fit_are_named(largest: int, remedies: str) -> None:
    message = rf"out\.onnx: would have 78\d{{4}} bytes, .* holds at most {largest}; {remedies}$"
    with pytest.raises(InputError, match=message):
        check_fits(model(), Lowering(), CONTRACT, Path("out.onnx"), largest)


def test_what_may_fit_is_read() -> None:
    """A float32 checkpoint may hold numbers of 16 bits."""
    check_fits(model(), Lowering(), CONTRACT, Path("out.onnx"), 800_000)
    check_fits(model(), Lowering("int8"), CONTRACT, Path("out.onnx"), 500_000)
    check_fits(model(), Lowering("int4"), CONTRACT, Path("out.onnx"), 375_000)
    with pytest.raises(InputError, match=r"would have 39\d{4} bytes"):
        check_fits(model(), Lowering("int8"), CONTRACT, Path("out.onnx"), 375_000)
