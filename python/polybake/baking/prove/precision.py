"""Judge a graph of a lower precision, and set how far clients may lie from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnxscript import ir
from pydantic import JsonValue

from polybake.baking.graph.write import write_to_run
from polybake.baking.prove.graph_run import GoldenTexts, GraphRun
from polybake.baking.prove.invariance import check_invariance
from polybake.baking.quantization.narrow_nodes import MOVING, branches
from polybake.baking.steps import Step
from polybake.base.modelfile.fixture import DEVICES, Case, Vectors, decode_vectors
from polybake.base.modelfile.manifest import Deviation, Precision
from polybake.base.modelfile.tolerance import LIMIT, TOLERANCES, Embeddings, Tolerance
from polybake.errors import CheckFailed

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
    """Return the expectation of a proven graph that quantizes values as its source does."""
    tolerances = rounding_tolerances(_moved(exact, graph, texts))
    return Expectation(texts.grant(exact, graph, tolerances), exact.invariance, tolerances)


def reduced_golden(
    model: ir.Model,
    graph: Path,
    precision: Precision,
    exact: GraphRun,
    texts: GoldenTexts,
    steps: Sequence[Step],
) -> Expectation:
    """Return the expectation of a graph of a lower precision."""
    result = texts.run(graph)
    deviation = measure_deviation(exact.floats, result.floats)
    tolerances, limit = TOLERANCES, LIMIT
    if precision == "float16":
        check_close(deviation)
        other = graph.parent.with_name("rounded.onnx")
        round_at_each_node(model.graph)
        write_to_run(model, other)
        spread = _moved(result, other, texts)
        check_close(spread)
        tolerances = rounding_tolerances(spread)
        limit = tolerances["cpu"].max_abs
    elif precision == "int8" or texts.built.rounds:
        tolerances = rounding_tolerances(_moved(result, graph, texts), deviation)
    check_invariance(result.invariance, lambda: result.invariance, steps, limit)
    return Expectation(
        texts.grant(result, graph, tolerances), result.invariance, tolerances, deviation
    )


def _moved(run: GraphRun, other: Path, texts: GoldenTexts) -> Deviation:
    """Measure what another way of rounding changes."""
    return measure_deviation(run.floats, texts.run(other, fused=False).floats)


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
        for index, value in enumerate(node.inputs):
            if value is not None and value.dtype == _NARROW:
                wide = ir.node("Cast", [value], {"to": _WIDE})
                wide.outputs[0].dtype = _WIDE
                graph.insert_before(node, wide)
                node.replace_input_with(index, wide.outputs[0])
        for value in node.outputs:
            rounded = ir.node("Cast", [value], {"to": _NARROW})
            value.replace_all_uses_with(rounded.outputs[0], replace_graph_outputs=True)
            rounded.replace_input_with(0, value)
            rounded.outputs[0].dtype, value.dtype = _NARROW, _WIDE
            graph.insert_after(node, rounded)


#: The factor on what another way of rounding changes, as other texts, processors and versions
#: differ more.
_ROOM = 3

#: The least cosine of a float16 vector to the exact vector: rounding alone leaves above 0.9999.
_CLOSE = 0.99


def measure_deviation(exact: Sequence[Case], found: Sequence[Case]) -> Deviation:
    """Compare the vectors of the same cases, text by text; of several outputs the worst counts."""
    golden = {case.id: case for case in exact}
    pairs = [(golden[case.id], case) for case in found if case.id in golden]
    outputs = [
        deviation(*(np.concatenate([decode_vectors(entry) for entry in side]) for side in sides))
        for sides in zip(*(map(_outputs, zip(*pairs, strict=True))), strict=True)
    ]
    worst = Deviation(
        max_abs=max(output.max_abs for output in outputs),
        mean_cosine=min(output.mean_cosine for output in outputs),
        min_cosine=min(output.min_cosine for output in outputs),
    )
    answers = [
        (_words(case.answer), _words(other.answer))
        for case, other in pairs
        if case.call and other.call
    ]
    counts = {"answers": len(answers), "reordered": sum(item != other for item, other in answers)}
    return worst.model_copy(update=counts)


def _outputs(cases: Sequence[Case]) -> Iterator[tuple[Vectors, ...]]:
    """Yield the vectors of all cases, an output at a time."""
    return zip(*(case.vectors for case in cases), strict=True)


def _words(answer: JsonValue) -> JsonValue:
    """Return an answer without its scores, to compare its content and order."""
    if isinstance(answer, list):
        return [_words(part) for part in answer]
    if isinstance(answer, dict):
        rest = {key: value for key, value in answer.items() if not isinstance(value, float)}
        return {key: _words(value) for key, value in rest.items()}
    return answer


def deviation(before: Embeddings, after: Embeddings) -> Deviation:
    """Compare ``[texts, dimension]`` row by row; a row of zeros has no direction."""
    before, after = before.astype(np.float64), after.astype(np.float64)
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = (before * after).sum(axis=1)[norms > 0] / norms[norms > 0]
    return Deviation(
        max_abs=float(np.abs(before - after).max()),
        mean_cosine=float(cosines.mean()),
        min_cosine=float(cosines.min()),
    )


def check_close(deviation: Deviation) -> None:
    """Refuse float16 vectors that differ too much from the exact vectors."""
    if not deviation.min_cosine >= _CLOSE:
        raise CheckFailed(
            f"float16 gives a golden text a vector of cosine {deviation.min_cosine:.4f} to the "
            f"exact one, expected {_CLOSE} at least; nothing was written; set "
            'precision = "float32" in [model]'
        )


def rounding_tolerances(moved: Deviation, rounded: Deviation | None = None) -> dict[str, Tolerance]:
    """Return how far clients may lie from the golden vectors of a graph of fewer bits.

    A number at the edge of two steps falls into either, depending on float32's rounding before it,
    and later numbers change, too. How much they change depends on the model.
    """
    least = TOLERANCES["cpu"]
    max_abs = [_ROOM * moved.max_abs, least.max_abs]
    cosine = [_ROOM * (1 - moved.min_cosine), least.one_minus_cosine]
    if rounded:
        max_abs.append(rounded.max_abs)
        cosine.append(1 - rounded.min_cosine)
    tolerance = Tolerance(max_abs=max(max_abs), one_minus_cosine=max(cosine))
    return dict.fromkeys(DEVICES, tolerance)
