"""Measure model files and their clients, and compare them."""

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import onnxruntime as ort
from tokenizers import Tokenizer

from polybake import __version__
from polybake.base.modelfile.fixture import Text
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.processor_name import processor_name
from polybake.runtime.processors import processors
from polybake.runtime.runner import Runner
from polybake.runtime.session import open_session
from polybake.study.bench.client import RunningClient
from polybake.study.bench.comparison import Candidate, compare
from polybake.study.bench.figures import BatchTokens, Environment, Figures, ModelFigures, TimeParts
from polybake.study.bench.profile import where_time_goes
from polybake.study.bench.turns import in_turns
from polybake.study.bench.workload import Workload
from polybake.verification.harness.harness_file import Client
from polybake.verification.verdict import HarnessError

#: The numbers of tokens per batch that are tried, by device.
BUDGETS = {
    "cpu": tuple(128 << power for power in range(7)),
    "cuda": tuple(1024 << power for power in range(6)),
}

#: How many texts each number of tokens is tried with. Fewer would fill no batch of a GPU.
_BUDGET_TEXTS = {"cpu": 200, "cuda": 1000}

Progress = Callable[[str], None]


def bench(
    models: Sequence[Path],
    workloads: Sequence[Workload],
    *,
    clients: Sequence[Client] = (),
    device: str = "cpu",
    threads: Sequence[int] = (),
    rounds: int = 5,
    progress: Progress = lambda _: None,
) -> Figures:
    """Measure each model with each number of threads, and in each client of its contract.

    Without ``threads`` a model has ONNX Runtime's default; clients always have their own.
    """
    counts: Sequence[int | None] = list(dict.fromkeys(threads)) or [None]
    candidates = [
        Candidate(name, Embedder(path, device=device, threads=count), count)
        for name, path in _named(models).items()
        for count in counts
    ]
    paired = {candidate.embedder.manifest.contract.pair is not None for candidate in candidates}
    if len(paired) > 1:
        raise InputError(
            "models of texts and of pairs do different work; measure one kind at a time"
        )
    if True in paired:
        workloads = [workload.paired() for workload in workloads]
    embedders: dict[str, Embedder] = {}
    for candidate in candidates:
        embedders.setdefault(candidate.model, candidate.embedder)
    with ExitStack() as stack:
        for name, embedder in embedders.items():
            for client in clients:
                progress(f"starting {client.language} with {name}")
                candidates.append(_started(client, name, embedder, stack))
        comparisons = [compare(workload, candidates, rounds, progress) for workload in workloads]
    return Figures(
        environment=environment(device),
        rounds=rounds,
        models=_models(embedders, workloads, counts[0], rounds, progress),
        workloads=tuple(comparisons),
    )


def _named(models: Sequence[Path]) -> dict[str, Path]:
    """Return each file once, by its name; by its path if several files share a name."""
    files = list(dict.fromkeys(models))
    stems = [file.stem for file in files]
    return {
        stem if stems.count(stem) == 1 else str(file): file
        for stem, file in zip(stems, files, strict=True)
    }


def _started(client: Client, name: str, embedder: Embedder, stack: ExitStack) -> Candidate:
    candidate = Candidate(name, embedder, client=client.language)
    try:
        candidate.running = RunningClient(client, embedder)
        stack.callback(candidate.running.close)
    except HarnessError as error:
        candidate.failure = error
    return candidate


def _models(
    embedders: Mapping[str, Embedder],
    workloads: Sequence[Workload],
    threads: int | None,
    rounds: int,
    progress: Progress,
) -> tuple[ModelFigures, ...]:
    """Measure what is known of each model from this process alone."""
    device = next(iter(embedders.values())).device
    texts, token_counts = workloads[0].part(_BUDGET_TEXTS[device]), BUDGETS[device]
    # A profile of a GPU has the time that starting a node takes, not running it.
    profiled = workloads if device == "cpu" else ()
    openings = in_turns(
        {
            (name, whole): [partial(_open if whole else _open_bare, embedder, threads)]
            for name, embedder in embedders.items()
            for whole in (True, False)
        },
        rounds,
        lambda turn: progress(f"opening: {turn}"),
    )
    budgets = in_turns(
        {
            (name, budget): [partial(_embed, replace(embedder.runner, budget=budget), texts)]
            for name, embedder in embedders.items()
            for budget in token_counts
        },
        rounds,
        lambda turn: progress(f"tokens of a batch: {turn}"),
    )
    figures = []
    for name, embedder in embedders.items():
        if profiled:
            progress(f"profiling {name}")
        manifest = embedder.manifest
        figures.append(
            ModelFigures(
                name=name,
                fingerprint=manifest.fingerprint,
                precision=manifest.precision,
                storage=manifest.storage,
                deviation=manifest.deviation,
                bytes=embedder.head.size,
                opening=openings[name, True],
                bare_opening=openings[name, False],
                batch_tokens=tuple(
                    BatchTokens(
                        tokens=budget,
                        texts_per_second=len(texts) / budgets[name, budget].median,
                        timing=budgets[name, budget],
                    )
                    for budget in token_counts
                ),
                parts=tuple(
                    TimeParts(workload=load.name, seconds=where_time_goes(embedder, load, threads))
                    for load in profiled
                ),
            )
        )
    return tuple(figures)


def _open(embedder: Embedder, threads: int | None) -> object:
    model = Embedder(embedder.path, device=embedder.device, threads=threads)
    model.tokenize([])  # reads the tokenizer
    return model


def _open_bare(embedder: Embedder, threads: int | None) -> object:
    session = open_session(embedder.path, embedder.device, threads)
    return session, Tokenizer.from_str(embedder.head.tokenizer)


def _embed(runner: Runner, texts: Sequence[Text]) -> object:
    return runner.embed(runner.ids(texts))


def environment(device: str = "cpu") -> Environment:
    """Return this machine and the versions that decide its speed."""
    return Environment(
        device=device,
        cpu=processor_name(),
        processors=processors(),
        system=platform.platform(),
        python=platform.python_version(),
        onnxruntime=ort.__version__,
        polybake=__version__,
    )
