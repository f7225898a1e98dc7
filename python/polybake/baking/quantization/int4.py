"""Keep the weights of a graph's matmuls in four bits.

Weights are blocks of four bits, rounded so that the matmuls' results stay close. What they are
multiplied by stays float32, and so do all results: what rounds is the file, and no text's vector
depends on another's. The output of a norm is divided, input by input, as in `int8`: a large input's
weights then get finer steps. Tables are int8 with a scale for each row.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnxscript import ir

from polybake.baking.graph.storage import drop_unused_weights
from polybake.baking.quantization.blocks import SIZE, round_blocks
from polybake.baking.quantization.calibration import Statistics, calibrated
from polybake.baking.quantization.embedding_tables import quantize_tables
from polybake.baking.quantization.matmuls import Group, after_norm, replace_matmul
from polybake.baking.quantization.nodes import MICROSOFT, Nodes, in_file
from polybake.baking.quantization.rounding import Floats, error_factor, smoothing
from polybake.base.modelfile.manifest import Contract

#: What rows are computed in: 1 is float32, 4 would round them to int8 where the processor can.
_LEVEL = 1

#: The exponent of int8's smoothing, which rows of float32 need less: the best of three on MiniLM.
_SMOOTHING = 0.6


def quantize(
    model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path
) -> None:
    """Make four bits of the weights of ``model``, in place."""
    for group, statistics in calibrated(model, contract, rows, folder):
        _quantize_group(model.graph, group, statistics, folder)
    quantize_tables(model.graph, folder)
    drop_unused_weights(model.graph)


def _quantize_group(graph: ir.Graph, group: Group, statistics: Statistics, folder: Path) -> None:
    """Round the weights once for all layers."""
    weights = np.concatenate(group.matrices(), axis=1)
    smooth: Floats = np.ones(group.inputs, np.float32)
    smoothed = after_norm(group.values[0])
    if smoothed:
        largest = np.maximum(statistics.largest, -statistics.least)
        smooth = smoothing(largest, weights) ** _SMOOTHING
    moments = statistics.moments(np.zeros_like(smooth)) / np.outer(smooth, smooth)
    blocks = round_blocks(weights * smooth[:, np.newaxis], error_factor(moments))
    columns = group.columns()
    packed, zeros, scales = blocks.packed, blocks.packed_zeros, blocks.scales.T
    parts = [in_file(packed[part], folder) for part in columns]
    for layer in group.layers:
        x = layer[0].x
        if smoothed:
            nodes = Nodes(graph, layer[0].node, "int4")
            x = nodes.op("Mul", x, nodes.constant(f"{layer[0].weight.name}.smooth", 1 / smooth))
        for matmul, part, integers in zip(layer, columns, parts, strict=True):
            nodes, name = Nodes(graph, matmul.node, "int4"), matmul.weight.name
            rows, out = matmul.sizes
            y = nodes.op(
                "MatMulNBits",
                x,
                nodes.constant(f"{name}", integers),
                nodes.constant(f"{name}.scale", np.ascontiguousarray(scales[part])),
                nodes.constant(f"{name}.zero", zeros[part]),
                domain=MICROSOFT,
                K=rows,
                N=out,
                bits=4,
                block_size=SIZE,
                accuracy_level=_LEVEL,
            )
            replace_matmul(nodes, matmul, y, matmul.shift())
