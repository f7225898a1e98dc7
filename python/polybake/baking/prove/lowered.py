"""Judge a lowered graph, and set how far clients may lie from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnxscript import ir

from polybake.baking.graph.write import write_to_run
from polybake.baking.prove.deviation import check_close, measure_deviation, rounding_tolerances
from polybake.baking.prove.graph_run import GoldenTexts, GraphRun
from polybake.baking.prove.invariance import check_invariance
from polybake.baking.quantization.narrow_nodes import MOVING, branches
from polybake.baking.steps import Step
from polybake.base.modelfile.compare import LIMIT
from polybake.base.modelfile.fixture import TOLERANCES, Case, Tolerance
from polybake.base.modelfile.manifest import Deviation, Precision

_NARROW = ir.DataType.FLOAT16
_WIDE = ir.DataType.FLOAT

#: Operators that round by themselves, or round nothing.
_KEEPING = {"Cast", "Gather"} | MOVING


@dataclass(frozen=True)
class Expectation:
    """What clients must match.

    Attributes:
        cases: The golden cases.
        invariance: How far a text's neighbours and padding change its vector.
        tolerances: How far a client's vectors may lie from the golden vectors, by device.
        deviation: How far the golden vectors lie from the exact ones; None if they are exact.
    """

    cases: Sequence[Case]
    invariance: Mapping[str, float]
    tolerances: dict[str, Tolerance]
    deviation: Deviation | None = None


def exact_golden(exact: GraphRun) -> Expectation:
    """Return the expectation of an unchanged float32 graph."""
    return Expectation(exact.golden, exact.invariance, TOLERANCES)


def rounding_golden(exact: GraphRun, graph: Path, texts: GoldenTexts) -> Expectation:
    """Return the expectation of a proven graph that rounds within, like its source."""
    tolerances = rounding_tolerances(_moved(exact, graph, texts))
    return Expectation(texts.grant(exact, graph, tolerances), exact.invariance, tolerances)


def lowered_golden(
    model: ir.Model,
    graph: Path,
    precision: Precision,
    exact: GraphRun,
    texts: GoldenTexts,
    steps: Sequence[Step],
) -> Expectation:
    """Return the expectation of a lowered graph.

    Args:
        model: The graph; for float16, it is changed.
        graph: The graph's file, in a folder of its own; a copy goes beside that.
        precision: The precision that it computes in.
        exact: The run of the float32 graph.
        texts: The golden texts.
        steps: The steps behind the encoder.

    Raises:
        CheckFailed: The vectors differ too much from the exact ones, or depend on neighbours.
    """
    found = texts.run(graph)
    deviation = measure_deviation(exact.floats, found.floats)
    tolerances, limit = TOLERANCES, LIMIT
    if precision == "float16":
        check_close(deviation)
        other = graph.parent.with_name("rounded.onnx")
        round_at_each_node(model.graph)
        write_to_run(model, other)
        moved = _moved(found, other, texts)
        check_close(moved)
        tolerances = rounding_tolerances(moved)
        limit = tolerances["cpu"].max_abs
    elif precision == "int8" or texts.built.rounds:
        tolerances = rounding_tolerances(_moved(found, graph, texts), deviation)
    check_invariance(found.invariance, lambda: found.invariance, steps, limit)
    return Expectation(
        texts.grant(found, graph, tolerances), found.invariance, tolerances, deviation
    )


def _moved(found: GraphRun, other: Path, texts: GoldenTexts) -> Deviation:
    """Measure what another way of rounding changes."""
    return measure_deviation(found.floats, texts.run(other, fused=False).floats)


def round_at_each_node(graph: ir.Graph) -> None:
    """Let each node that computes in float16 do so in float32, and round what it gives, in place.

    ONNX Runtime does the same on a CPU, and then leaves out the rounding between two such nodes. A
    GPU sums in float32 and writes float16.
    """
    for node in list(graph):
        for branch in branches(node):
            round_at_each_node(branch)
        if node.op_type in _KEEPING or node.outputs[0].dtype != _NARROW:
            continue
        for place, value in enumerate(node.inputs):
            if value is not None and value.dtype == _NARROW:
                wide = ir.node("Cast", [value], {"to": _WIDE})
                wide.outputs[0].dtype = _WIDE
                graph.insert_before(node, wide)
                node.replace_input_with(place, wide.outputs[0])
        for value in node.outputs:
            rounded = ir.node("Cast", [value], {"to": _NARROW})
            value.replace_all_uses_with(rounded.outputs[0], replace_graph_outputs=True)
            rounded.replace_input_with(0, value)
            rounded.outputs[0].dtype, value.dtype = _NARROW, _WIDE
            graph.insert_after(node, rounded)
