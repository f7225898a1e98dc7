"""The core's answers to random calls, to compare the clients' answers with."""

import os
from collections.abc import Mapping
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from polybake.baking.golden.edges import Edges
from polybake.baking.golden.golden import THREADS, golden_cases, reference
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.fixture import Case, Fixture
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.study.random.texts import Drawn, drawn_cases

_WHY = "A text that nobody thought of."


class GoldenRunner:
    """A model file, run by the code that makes golden cases.

    Attributes:
        output: The model's output.
        further: Its further outputs.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        embedder = Embedder(model, threads=THREADS)
        self.output = embedder.manifest.contract.output
        self.further = embedder.manifest.contract.further_outputs
        self._head = embedder.head
        self._runner = embedder.runner
        self._edges = Edges.of(Path(model), self.output, self._head.fixture.tolerances)

    @property
    def drawn(self) -> SearchStrategy[Drawn]:
        """A strategy for random calls of this model."""
        return drawn_cases(self._runner.contract, self._runner.tokenizer)

    def fixture(self, calls: Mapping[str, Drawn]) -> Fixture:
        """Return the calls by name, with their expected answers.

        Calls that the model cannot answer are left out: a text that leaves the other text of its
        pair no room, or a text without tokens from which the model makes no numbers.
        """
        cases = (self._case(name, drawn) for name, drawn in calls.items())
        return Fixture(
            fingerprint=self._head.manifest.fingerprint,
            made_by=reference(),
            tolerances=self._head.fixture.tolerances,
            cases=tuple(case for found in cases for case in found),
        )

    def _case(self, name: str, drawn: Drawn) -> list[Case]:
        text = CaseText(name, _WHY, (), drawn.prompt, drawn.texts)
        try:
            return golden_cases([text], self._runner, self._edges)
        except InputError:
            return []
