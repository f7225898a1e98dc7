"""Compare the speed of models in this process and in their clients' processes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from polybake.base.modelfile.fixture import Text
from polybake.runtime.embedder import Embedder
from polybake.study.bench.client import RunningClient, expected
from polybake.study.bench.figures import Comparison, Row
from polybake.study.bench.turns import Timing, in_turns
from polybake.study.bench.workload import Workload
from polybake.verification.verdict import HarnessError, Status


@dataclass
class Candidate:
    """A model in this process, or one of its clients in a process of its own.

    Attributes:
        model: What the model is called.
        embedder: The model.
        threads: Threads of the embedder; None is the default, which clients use.
        client: The client's language; None is this process.
        running: The client; None if it could not be started.
        failure: Why the client gets no more requests.
    """

    model: str
    embedder: Embedder
    threads: int | None = None
    client: str | None = None
    running: RunningClient | None = None
    failure: HarnessError | None = None

    def check(self, workload: Workload) -> None:
        """Compare a client's vectors with the model's."""
        if self.running and not self.failure:
            golden = expected(self.embedder, workload.name, workload.texts)
            self._unless_it_fails(partial(self.running.check, golden))

    def embed(self, texts: Sequence[Text]) -> None:
        """Embed texts in one call."""
        embed = self.running.embed if self.running else self._run
        if not self.failure:
            self._unless_it_fails(partial(embed, texts))

    def _run(self, texts: Sequence[Text]) -> object:
        runner = self.embedder.runner
        return runner.embed(runner.ids(texts))

    def _unless_it_fails(self, call: Callable[[], object]) -> None:
        try:
            call()
        except HarnessError as error:
            self.failure = error


def compare(
    workload: Workload,
    candidates: Sequence[Candidate],
    rounds: int,
    progress: Callable[[str], None],
) -> Comparison:
    """Time one workload, with ratios to the first candidate.

    Clients are timed only if their vectors equal the model's.
    """
    for candidate in candidates:
        if candidate.running:
            progress(f"comparing the vectors of {candidate.client}, {workload.title}")
            candidate.check(workload)
    calls = workload.calls()
    tasks = {
        index: [partial(candidate.embed, texts) for texts in calls]
        for index, candidate in enumerate(candidates)
        if not candidate.failure
    }
    timings = in_turns(tasks, rounds, lambda turn: progress(f"{workload.title}: {turn}"))
    rows = [
        _row(candidate, calls, timings.get(index), timings[0])
        for index, candidate in enumerate(candidates)
    ]
    return Comparison(
        name=workload.name, title=workload.title, single=workload.single, rows=tuple(rows)
    )


def _row(
    candidate: Candidate, calls: Sequence[Sequence[Text]], timing: Timing | None, first: Timing
) -> Row:
    failure = candidate.failure
    timed = None if failure else timing
    ids = [row for texts in calls for row in candidate.embedder.tokenize(texts)]
    return Row(
        model=candidate.model,
        client=candidate.client,
        threads=candidate.threads,
        texts=len(calls[0]),
        tokens=round(sum(map(len, ids)) / len(calls)),
        status=failure.status if failure else Status.PASS,
        message=failure.message if failure else "",
        timing=timed,
        ratio=first.median / timed.median if timed else None,
    )
