"""The largest absolute numbers among the values of a graph."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnxscript import ir

from polybake.baking.graph.open_written import open_written
from polybake.baking.graph.write import write_to_run
from polybake.base.modelfile.manifest import Contract
from polybake.runtime.feeds import feeds
from polybake.runtime.session import run


def largest_values(
    model: ir.Model,
    values: Sequence[ir.Value],
    contract: Contract,
    rows: Sequence[Sequence[int]],
    folder: Path,
) -> list[float]:
    """Return the largest absolute number of each value over all texts; NaN if it has NaN.

    They are found inside a copy of the graph, which frees its values as it runs.

    Args:
        model: The graph, which is not changed.
        values: float32 values of the main graph.
        contract: The contract, with the inputs.
        rows: Token ids of the texts.
        folder: A folder for the copy.
    """
    copy = model.clone()
    by_name = {value.name: value for node in copy.graph for value in node.outputs}
    names = []
    for number, value in enumerate(values):
        size = ir.node("Abs", [by_name[value.name]])
        most = ir.node("ReduceMax", size.outputs, {"keepdims": 0}, name=f"largest.{number}")
        output = most.outputs[0]
        output.name, output.dtype, output.shape = (
            f"largest.{number}",
            ir.DataType.FLOAT,
            ir.Shape([]),
        )
        copy.graph.extend([size, most])
        copy.graph.outputs.append(output)
        names.append(str(output.name))
    if not names:
        return []
    path = folder / "largest.onnx"
    write_to_run(copy, path)
    session = open_written(path, threads=1, name="the graph")
    found = [run(session, names, feeds(contract, [row])) for row in rows]
    return [float(one) for one in np.max(np.array(found, np.float32), axis=0)]
