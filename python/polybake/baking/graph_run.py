"""What a graph gives for the golden texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polybake.baking.build import Built
from polybake.baking.invariance import baked_run, measure_invariance
from polybake.fixtures.edges import Edges
from polybake.fixtures.golden import THREADS, golden_cases
from polybake.fixtures.texts import CaseText
from polybake.modelfile.fixture import TOLERANCES, Case, Tolerance, encode_vectors
from polybake.runtime.runner import Runner
from polybake.runtime.session import open_session


class GraphRun(NamedTuple):
    """Golden cases of one graph.

    Attributes:
        golden: With what clients are given.
        floats: The same cases with float32 vectors: of a quantized graph, what is quantized.
        invariance: How far a text's neighbours and padding change its vector.
    """

    golden: list[Case]
    floats: list[Case]
    invariance: dict[str, float]


def run_graph(
    graph: Path,
    built: Built,
    cases: Sequence[CaseText],
    name: str,
    *,
    fused: bool = True,
    tolerances: Mapping[str, Tolerance] = TOLERANCES,
) -> GraphRun:
    """Run each case.

    Args:
        graph: An ONNX file.
        built: How it is called.
        cases: Texts.
        name: What messages call the graph.
        fused: Whether ONNX Runtime may put operators together.
        tolerances: How far a client's float32 vector may lie from the golden one.
    """
    output = built.contract.output
    session = open_session(graph, threads=THREADS, name=name, fused=fused)
    runner = Runner(session, built.contract, built.tokenizer)
    run = baked_run(runner)
    golden = golden_cases(cases, runner, Edges.of(graph, output, tolerances))
    floats = golden
    if output.dtype != "float32":
        vectors = [np.concatenate(run(case.input_ids, 0, case.prompt)) for case in golden]
        floats = [
            case.model_copy(update={"embeddings": encode_vectors(found)})
            for case, found in zip(golden, vectors, strict=True)
        ]
    return GraphRun(golden, floats, measure_invariance(golden, built.contract, run))
