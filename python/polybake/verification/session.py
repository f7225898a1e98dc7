"""A client on a device: started, asked every stage of every case, and stopped."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from polybake.base.modelfile.fixture import Device
from polybake.base.modelfile.tolerance import Embeddings
from polybake.errors import InputError
from polybake.verification.harness.handshake import Subject, check_served, check_started, results_of
from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.process import check_programs, run_prepare, unprepared
from polybake.verification.harness.protocol import (
    Answer,
    Arguments,
    Places,
    Request,
    SelfCheck,
    Start,
    Started,
    Stop,
)
from polybake.verification.harness.services.service import Served, Service
from polybake.verification.judging.arguments import ArgumentCase
from polybake.verification.judging.evidence import Evidence
from polybake.verification.judging.golden import Golden, GoldenCase
from polybake.verification.judging.many import many_texts
from polybake.verification.judging.stages import (
    Outcome,
    judge_case,
    judge_self_check,
    requests_for,
    stages_of,
)
from polybake.verification.verdict import (
    CASE_STAGES,
    MANY_STAGES,
    SESSION,
    HarnessError,
    Stage,
    Status,
    Verdict,
)

#: A client that has lost this many stages, two whole cases, is given up, as each may take a
#: time-out.
LOST = 2 * len(CASE_STAGES)

#: The most seconds that a thread can wait.
_LONGEST = 86_400.0


@dataclass(frozen=True)
class Timeouts:
    """Time limits in seconds; ``load`` is for start, many texts and self_check."""

    answer: float = 60.0
    load: float = 120.0
    stop: float = 10.0
    prepare: float = 1800.0

    @classmethod
    def of(cls, seconds: float) -> Self:
        """So long for each answer, and twice as long for many texts and the whole model file."""
        if not 0.0 < seconds <= _LONGEST:
            raise InputError(f"timeout {seconds:g}: expected seconds above 0, at most {_LONGEST:g}")
        # Who waits longer for an answer has a machine on which a process ends later, too.
        return cls(answer=seconds, load=2 * seconds, stop=max(cls.stop, seconds / 6))


@dataclass
class Session:
    """A client on a device. ``run`` yields verdicts and fills ``started`` and ``vectors``."""

    client: Client
    device: Device
    subject: Subject
    golden: Golden
    timeouts: Timeouts
    #: What it is asked beside golden cases.
    arguments: Sequence[ArgumentCase] = ()
    #: Names that a foreign client may not have.
    taken: Collection[str] = ()
    #: Whether to run the client's prepare commands first.
    prepare: bool = False
    started: Started | Served | None = None
    #: The vectors of ``embed``, by case: ``[texts, dimension]``.
    vectors: dict[str, Embeddings] = field(default_factory=dict)
    #: Whether a service gave vectors in another order than the texts.
    reordered: bool = False
    #: What reports show of its answers.
    evidence: Evidence = field(default_factory=Evidence)
    #: Why the client gets no more requests; all remaining stages get this verdict.
    _given_up: HarnessError | None = None
    _harness: Harness | Service | None = None
    _lost: int = 0

    @property
    def language(self) -> str:
        """The name that the verdicts carry."""
        if self.client.foreign and isinstance(self.started, Started):
            return self.started.client.language
        return self.client.language

    @property
    def _places(self) -> Places:
        return self.started.places if isinstance(self.started, Started) else "code_points"

    @property
    def _streams(self) -> bool:
        """Whether to ask for a stream, which is an optional part of a client."""
        started = self.started
        return started is None or (
            isinstance(started, Started) and Stage.STREAM in started.capabilities
        )

    def run(self) -> Iterator[Verdict]:
        """Run all stages; restart a lost harness, and end it in any case."""
        try:
            check_programs(self.client)
            if self.prepare:
                run_prepare(self.client, self.timeouts.prepare)
        except HarnessError as error:
            self._given_up = error
        try:
            for case in self.golden.cases:
                for stage in stages_of(case.case):
                    yield self.verdict(case, stage)
            for stage, many in many_texts(self.golden, self.device):
                if stage is not Stage.STREAM or self._streams:
                    yield self.verdict(many, stage)
            yield self._verdict(SESSION, Stage.ARGUMENTS, self._arguments)
            yield self._verdict(SESSION, Stage.SELF_CHECK, self._self_check)
            if self._harness:
                yield self._verdict(SESSION, Stage.STOP, partial(self._stop, self._harness))
        finally:
            self.close()

    def verdict(self, golden: GoldenCase, stage: Stage) -> Verdict:
        """Send the request of a stage of a case, and judge the answer."""
        return self._verdict(golden.case.id, stage, partial(self._case, golden, stage))

    def _verdict(self, case: str, stage: Stage, outcome: Callable[[], Outcome]) -> Verdict:
        begin, asked = time.monotonic(), True
        try:
            found = outcome()
        except HarnessError as error:
            found, asked = Outcome(error.status, error.message), error is not self._given_up
        return Verdict(
            self.language,
            self.device,
            case,
            stage,
            found.status,
            found.message,
            found.difference,
            time.monotonic() - begin,
            asked,
        )

    def _case(self, golden: GoldenCase, stage: Stage) -> Outcome:
        seconds = self.timeouts.load if stage in MANY_STAGES else self.timeouts.answer
        results = [self.ask(request, seconds) for request in requests_for(stage, golden.case)]
        if isinstance(self._harness, Service):
            self.reordered |= self._harness.reordered
        tolerance = self.golden.tolerances[self.device]
        outcome = judge_case(stage, golden, results, tolerance, self._places)
        self.evidence.add(stage, golden, results[0], outcome, tolerance)
        if stage is Stage.EMBED and outcome.vectors is not None:
            self.vectors[golden.case.id] = outcome.vectors
        return outcome

    def _arguments(self) -> Outcome:
        """Ask every case; the first wrong answer is the outcome."""
        self._open()
        started = self.started
        if not isinstance(started, Started) or Stage.ARGUMENTS not in started.capabilities:
            message = f"does not list {Stage.ARGUMENTS} among its capabilities"
            raise HarnessError(Status.SKIP_CAPABILITY, message)
        for case in self.arguments:
            request = Arguments.model_validate(case.request)
            try:
                wrong = case.judge(self._answer(request, self.timeouts.answer), self._places)
            except HarnessError as error:
                raise HarnessError(error.status, f"{case.id}: {error.message}") from error
            if wrong:
                return Outcome(Status.FAIL, f"{case.id}: {wrong}")
        return Outcome(Status.PASS)

    def _self_check(self) -> Outcome:
        results = self.ask(SelfCheck(), self.timeouts.load)
        return judge_self_check(results, self.golden.self_check_limit(self.device))

    def _stop(self, harness: Harness | Service) -> Outcome:
        results = results_of(harness.ask(Stop(), self.timeouts.stop))
        harness.finish(self.timeouts.stop)
        if results is not None:
            return Outcome(Status.ERROR, f"stop gave {results!r:.100}, expected null")
        return Outcome(Status.PASS)

    def ask(self, request: Request, seconds: float) -> object:
        """Return the client's answer; its harness is started if none runs."""
        answer = self._answer(request, seconds)
        return results_of(answer, self.started.capabilities if self.started else (), request.cmd)

    def _answer(self, request: Request, seconds: float) -> Answer:
        harness = self._open()
        try:
            return harness.ask(request, seconds)
        except HarnessError as error:
            if isinstance(harness, Service) and error.status is Status.ERROR:
                raise  # the service reported an error, and still runs
            self._harness = None
            self._lost += 1
            if self._lost == LOST:
                message = f"given up after {LOST} lost stages: {error.message}"
                self._given_up = HarnessError(error.status, message)
            raise

    def _open(self) -> Harness | Service:
        """Return the running harness, started if necessary; give up if it cannot start."""
        if self._given_up:
            raise self._given_up
        if self._harness is None:
            try:
                self._harness, self.started = self._start()
            except HarnessError as error:
                self.close()
                crashed = self.started is None and error.status is Status.CRASH
                self._given_up = error
                if crashed and self.client.prepare and not self.prepare:
                    self._given_up = unprepared(self.client, error)
                raise self._given_up from error
        return self._harness

    def _start(self) -> tuple[Harness | Service, Started | Served]:
        if self.client.service:
            service = Service(self.client.language, self.subject.path)
            return service, check_served(service.start(self.timeouts.load), self.subject)
        self._harness = harness = Harness(self.client)
        request = Start(model=str(self.subject.path), device=self.device)
        answer = harness.ask(request, self.timeouts.load)
        return harness, check_started(answer, self.client, self.device, self.subject, self.taken)

    def close(self) -> None:
        """End the harness, if it runs."""
        if self._harness:
            self._harness.kill()
        self._harness = None
