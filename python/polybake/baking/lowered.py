"""Lower a proven graph, and measure what that changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnxscript import ir

from polybake.baking.build import Built
from polybake.baking.deviation import check_close, measure_deviation, rounding_tolerances
from polybake.baking.graph_run import GraphRun
from polybake.baking.invariance import check_invariance
from polybake.baking.lower import Lowering
from polybake.graph.write import write_to_run
from polybake.modelfile.compare import LIMIT
from polybake.modelfile.fixture import TOLERANCES, Case, Tolerance
from polybake.modelfile.manifest import Deviation
from polybake.quantization.rounded import round_at_each_node
from polybake.steps import Step

#: Runs the golden cases through a graph, as `polybake.baking.graph_run.run_graph` does.
Run = Callable[..., GraphRun]


@dataclass(frozen=True)
class Golden:
    """What clients are held to.

    Attributes:
        cases: The golden cases.
        invariance: How far a text's neighbours and padding change its vector.
        tolerances: How far a client's vectors may lie from the golden ones, by device.
        deviation: How far they themselves lie from the exact ones; None where they are these.
    """

    cases: Sequence[Case]
    invariance: Mapping[str, float]
    tolerances: dict[str, Tolerance]
    deviation: Deviation | None = None


def exact_golden(exact: GraphRun) -> Golden:
    """Of a graph in float32, that nothing was changed in."""
    return Golden(exact.golden, exact.invariance, TOLERANCES)


def lowered_golden(
    model: ir.Model,
    exact: GraphRun,
    lowering: Lowering,
    built: Built,
    steps: Sequence[Step],
    run: Run,
    write: Callable[[ir.Model], None],
    graph: Path,
) -> Golden:
    """Lower a graph in place.

    Args:
        model: The proven graph, in float32.
        exact: What it gives.
        lowering: How it is lowered.
        built: How it is called.
        steps: What was folded over the encoder.
        run: Runs the golden cases.
        write: Writes the lowered graph to ``graph``.
        graph: In a folder for copies.

    Raises:
        InputError: a weight, or a value within the graph, is beyond float16's range.
        CheckFailed: the vectors are others than the exact ones, or depend on their neighbours.
    """
    lowering.apply(model, built.contract, built.tokenizer, exact.golden, graph.parent)
    write(model)
    found = run(graph)
    deviation = measure_deviation(exact.floats, found.floats)
    tolerances, limit = TOLERANCES, LIMIT
    if lowering.precision == "float16":
        other = graph.with_name("rounded.onnx")
        round_at_each_node(model.graph)
        write_to_run(model, other)
        moved = _moved(found, other, run)
        check_close(deviation)
        check_close(moved)
        found, tolerances = _granted(found, rounding_tolerances(moved), graph, run)
        limit = tolerances["cpu"].max_abs
    elif lowering.precision == "int8" or built.rounds:
        granted = rounding_tolerances(_moved(found, graph, run), deviation)
        found, tolerances = _granted(found, granted, graph, run)
    check_invariance(found.invariance, lambda: found.invariance, steps, limit)
    return Golden(found.golden, found.invariance, tolerances, deviation)


def rounding_golden(exact: GraphRun, graph: Path, run: Run) -> Golden:
    """Of a proven graph whose source rounds within."""
    granted = rounding_tolerances(_moved(exact, graph, run))
    found, tolerances = _granted(exact, granted, graph, run)
    return Golden(found.golden, found.invariance, tolerances)


def _moved(found: GraphRun, other: Path, run: Run) -> Deviation:
    """What another way of rounding changes."""
    return measure_deviation(found.floats, run(other, fused=False).floats)


def _granted(
    found: GraphRun, tolerances: dict[str, Tolerance], graph: Path, run: Run
) -> tuple[GraphRun, dict[str, Tolerance]]:
    """Grant clients room; integers then have it in their slack."""
    quantized = found.golden is not found.floats
    return run(graph, tolerances=tolerances) if quantized else found, tolerances
