"""Find the smallest call on which a client fails like it failed on a larger call."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from polybake.baking.golden.edges import Edges
from polybake.baking.golden.golden import THREADS, golden_cases, reference
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.fixture import Case, Fixture
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.study.random.search import smallest
from polybake.study.random.texts import Drawn, drawn_cases
from polybake.verification.judging.golden import decode_fixture
from polybake.verification.judging.stages import requests_for, stages_of
from polybake.verification.session import Session
from polybake.verification.verdict import HarnessError, Stage, Status, Verdict

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
        cases = (self._case(name, call) for name, call in calls.items())
        return Fixture(
            fingerprint=self._head.manifest.fingerprint,
            made_by=reference(),
            tolerances=self._head.fixture.tolerances,
            cases=tuple(case for group in cases for case in group),
        )

    def _case(self, name: str, call: Drawn) -> list[Case]:
        text = CaseText(name, _WHY, (), call.prompt, call.texts)
        try:
            return golden_cases([text], self._runner, self._edges)
        except InputError:
            return []


#: The most seconds of the search for a smaller call, for each client on each device.
PATIENCE = 60.0

#: Characters of a literal that are printed.
_SHOWN = 1_000

#: A session gives up a client after six such answers.
_LOST = (Status.CRASH, Status.TIMEOUT, Status.ERROR)


@dataclass
class Failing:
    """A client that failed, called again and again with smaller calls.

    Attributes:
        open: Opens a new session of the client.
        reference: The model file that gives the expected answers.
        failed: The verdict that a smaller call must have, too.
        known: Whether a call fails, for the calls already tried.
    """

    open: Callable[[], Session]
    reference: GoldenRunner
    failed: Verdict
    known: dict[Drawn, bool]
    _session: Session | None = None
    _until: float = field(default_factory=lambda: time.monotonic() + PATIENCE)

    def explained(self, number: int, seed: int) -> Verdict:
        """Return the failed verdict, with the smallest such call in its message."""
        try:
            call = smallest(self.reference.drawn, number, seed, self._fails)
            result = None if call is None else self._again(call)
            text = "asked once more it passes" if result is None else self._described(*result)
            return replace(self.failed, message=f"{self.failed.message}; {text}")
        finally:
            if self._session:
                self._session.close()

    def _fails(self, call: Drawn) -> bool:
        if call not in self.known:
            in_time = time.monotonic() < self._until
            self.known[call] = in_time and self._again(call) is not None
        return self.known[call]

    def _again(self, call: Drawn) -> tuple[Case, Verdict] | None:
        """Return the call's case and verdict if the verdict is like the failed verdict."""
        self._session = session = self._session or self.open()
        fixture = self.reference.fixture({self.failed.case: call})
        try:
            outputs = self.reference.output, self.reference.further
            (golden,) = decode_fixture(fixture, [session.device], *outputs).cases
        except InputError:  # the model has no answer
            return None
        if self.failed.stage not in stages_of(golden.case):
            return None
        verdict = session.verdict(golden, self.failed.stage)
        if verdict.status in _LOST:
            session.close()
            self._session = None
        return (golden.case, verdict) if verdict.status is self.failed.status else None

    def _described(self, case: Case, verdict: Verdict) -> str:
        return (
            f"smallest: texts {_shown(case.texts)}, prompt {_shown(case.prompt)}: "
            f"{verdict.message}; ids expected {_shown(case.input_ids)}, found {self._ids(case)}"
        )

    def _ids(self, case: Case) -> str:
        """Return the client's token ids, whatever stage failed."""
        self._session = session = self._session or self.open()
        try:
            (request,) = requests_for(Stage.TOKENIZE, case)
            rows = session.ask(request, session.timeouts.answer)
        except HarnessError as error:
            return f"none ({error.status})"
        return _shown(rows.get("input_ids") if isinstance(rows, dict) else rows)


def _shown(value: object) -> str:
    """Return a value as JSON in ASCII, without its middle if it is long."""
    text = json.dumps(value, ensure_ascii=True)
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]} … {text[-half:]} ({len(text)} characters)"
