"""Run a graph on the golden texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polybake.baking.assemble.contract import Built
from polybake.baking.golden.edges import Edges
from polybake.baking.golden.golden import THREADS, golden_cases
from polybake.baking.golden.texts import CaseText
from polybake.baking.graph.session import open_written
from polybake.baking.prove.invariance import baked_run, largest, measure_invariance
from polybake.base.modelfile.fixture import Case, decode_vectors, encode_vectors
from polybake.base.modelfile.tolerance import TOLERANCES, Tolerance
from polybake.errors import InputError, RunFailed
from polybake.runtime.runner import Runner


class GraphRun(NamedTuple):
    """The golden cases of a graph.

    Attributes:
        golden: The cases with the vectors that clients get.
        floats: The same cases with float32 vectors; for a quantized graph, before quantization.
        invariance: How far a text's neighbours and padding change its vector.
    """

    golden: list[Case]
    floats: list[Case]
    invariance: dict[str, float]


@dataclass(frozen=True)
class GoldenTexts:
    """The golden texts, for any graph of one contract.

    Attributes:
        built: The contract and the tokenizer.
        cases: The texts.
        name: The graph's name in messages.
    """

    built: Built
    cases: Sequence[CaseText]
    name: str

    def run(self, graph: Path, *, fused: bool = True) -> GraphRun:
        """Run each case through an ONNX file."""
        contract = self.built.contract
        session = open_written(graph, threads=THREADS, name=self.name, fused=fused)
        runner = Runner(session, contract, self.built.tokenizer)
        runs = [baked_run(runner, output) for output in contract.outputs]
        edges = Edges.of(graph, contract.output, TOLERANCES)
        try:
            golden = golden_cases(self.cases, runner, edges)
        except RunFailed as error:
            constant = constant_axis(runner)
            if constant is None:
                raise
            raise InputError(f"{self.name}: {constant}") from error
        floats = golden
        if contract.output.dtype != "float32":
            vectors = [
                np.concatenate(runs[0](case.rows(contract.vocab_size), 0, case.prompt))
                for case in golden
            ]
            floats = [
                case.model_copy(update={"embeddings": encode_vectors(array)})
                for case, array in zip(golden, vectors, strict=True)
            ]
        return GraphRun(
            golden, floats, largest(measure_invariance(golden, contract, run) for run in runs)
        )

    def grant(
        self, found: GraphRun, graph: Path, tolerances: Mapping[str, Tolerance]
    ) -> list[Case]:
        """Return the golden cases, with the slack that ``tolerances`` leave their integers."""
        edges = Edges.of(graph, self.built.contract.output, tolerances)
        if edges is None:
            return found.golden
        cases = []
        for case, floats in zip(found.golden, found.floats, strict=True):
            unquantized = np.asarray(decode_vectors(floats.embeddings), np.float32)
            vectors = encode_vectors(decode_vectors(case.embeddings), edges.slack(unquantized))
            cases.append(case.model_copy(update={"embeddings": vectors}))
        return cases


#: The sizes that are tried; examples are seldom larger.
_TEXTS, _TOKENS = 8, 512

_REMEDY = (
    "export it again with two example texts or more, of several tokens, and make no Python number "
    "of a size, such as int(input_ids.shape[0])"
)


def constant_axis(runner: Runner) -> str | None:
    """Return what a graph that fails does run on, and the remedy; None if no axis is constant."""
    row = runner.tokenizer.encode(["a"])[0] or [runner.contract.pad_id]
    short = len(row)

    def runs(texts: int, tokens: int) -> bool:
        output = runner.contract.output
        try:
            (vectors,) = runner.outputs([row] * texts, [output.name], length=tokens)
        except RunFailed:
            return False
        return output.counts is not None or len(vectors) == texts

    if runs(1, short):
        if not runs(2, short):
            return _said("one text but not two", "batch size", 1)
        if not runs(1, short + 1):
            return _said(f"{short} tokens but not {short + 1}", "sequence length", short)
        return None
    texts = next((size for size in range(2, _TEXTS + 1) if runs(size, short)), None)
    if texts is not None:
        return _said(f"{texts} texts but not one", "batch size", texts)
    lengths = range(short + 1, min(_TOKENS, runner.contract.max_length) + 1)
    tokens = next((size for size in lengths if runs(1, size)), None)
    if tokens is not None:
        return _said(f"{tokens} tokens but not {short}", "sequence length", tokens)
    return None


def _said(runs: str, axis: str, size: int) -> str:
    return (
        f"the graph runs on {runs}: a {axis} of {size} is a constant in it, though the axis is "
        f"declared dynamic; {_REMEDY}"
    )
