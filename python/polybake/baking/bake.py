"""Bake an encoder and its steps into one model file, and prove it before writing."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from onnxscript import ir

from polybake.baking.assemble.build import build, encoder_for
from polybake.baking.assemble.client_tokens import check_joined, check_split
from polybake.baking.assemble.manifest import describe
from polybake.baking.assemble.model_file import check_fits, check_place, too_large
from polybake.baking.assemble.precision import check_storage, is_reduced, reduce_precision
from polybake.baking.assemble.prefixes import cache_prefixes
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.golden.golden import THREADS, contract_cases, embedded_cases, reference
from polybake.baking.golden.texts import read_texts, user_cases
from polybake.baking.graph.session import open_written
from polybake.baking.graph.storage import store_narrow
from polybake.baking.graph.write import serialize, write_to_run
from polybake.baking.prove.graph_run import GoldenTexts, GraphRun
from polybake.baking.prove.invariance import (
    check_invariance,
    encoder_run,
    measure_invariance,
)
from polybake.baking.prove.precision import exact_golden, reduced_golden, rounding_golden
from polybake.baking.prove.proof import prove_steps
from polybake.baking.sources.source import Encoder, Source, SourceReference
from polybake.baking.steps import Step
from polybake.baking.tasks import Embed, Task
from polybake.base.files.scratch import Scratch
from polybake.base.modelfile import container
from polybake.base.modelfile.fixture import Fixture
from polybake.base.modelfile.manifest import Contract, Manifest
from polybake.base.modelfile.size_limit import LARGEST_FILE
from polybake.base.modelfile.weights import Weights, check_weights_name, weights_name
from polybake.config import Config
from polybake.errors import InputError

#: A function that is called with what begins, such as ``proving the steps``.
Progress = Callable[[str], None]

EMBED = Embed()

_STAGES = {
    "build": "building the graph",
    "golden": "making golden vectors",
    "prove": "proving the steps",
    "precision": "reducing the precision",
    "write": "writing the file",
}


def quiet(_: str) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class BakeReport:
    """The result of a bake.

    Attributes:
        path: The model file.
        size: Its size in bytes, with its weights.
        manifest: The manifest in the file; ``manifest.verified`` says how far it was proven.
        cases: The number of golden cases in the file.
        differences: The largest difference in each proof, by the proof's name.
        seconds: Wall time by stage.
        notes: What was assumed; see `polybake.baking.assemble.notes`.
        weights: The file of weights beside it; None where it holds them itself.
    """

    path: Path
    size: int
    manifest: Manifest
    cases: int
    differences: Mapping[str, float]
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()
    weights: Path | None = None


def bake(
    source: Source,
    steps: Sequence[Step],
    config: Config,
    task: Task = EMBED,
    progress: Progress = quiet,
) -> BakeReport:
    """Fold ``steps`` over the encoder of ``source``, prove the result, and write it.

    ``progress`` is called with what begins.
    """
    settings, out = config.model, config.model.output
    own = config.fixtures.texts if config.fixtures.embed == "all" else ()
    calibration = read_texts([settings.calibration] if settings.calibration else [])
    reduced = is_reduced(settings)
    extra_cases = user_cases(read_texts(own))
    beside = settings.weights == "beside"
    if beside:
        check_weights_name(out)
    replaced = check_place(out)
    used = bake_prompts(source, steps, config.prompts, settings.default_prompt)
    if used.texts and not task.prompted:
        raise InputError(
            f"prompts: {', '.join(used.texts)}: a model of the task {task.name!r} has none; leave "
            "them out, and put what they say into the texts"
        )
    encoder = encoder_for(source, steps, task)
    seconds: dict[str, float] = {}
    timed = partial(_timed, seconds, progress)
    with Scratch() as scratch:
        # The weights beside a tail have a name of the user's choice.
        folder = Path(scratch) / "baked"
        folder.mkdir()
        tail = folder / "tail.onnx"
        graph = Path(scratch) / "exact.onnx" if reduced else tail
        with timed("build"):
            if not settings.expose:  # what is exposed has all tokens
                encoder = cache_prefixes(source, encoder, steps, used, Path(scratch))
            model, built = build(source, encoder, steps, used, task, settings)
            check_storage(settings, model, built.contract)
            if not beside:
                check_fits(model, settings.precision, built.contract, out)
            if reduced:
                write_to_run(model, graph, 0 if beside else LARGEST_FILE)
            else:
                store_narrow(model)
                weights = _write_tail(model, beside, built.contract, out, tail)
                # The runs below need the memory of the weights, which a graph's cycles hold on to.
                del model
                gc.collect()
        with timed("golden"):
            cases = [*contract_cases(built.contract, built.tokenizer), *extra_cases]
            texts = GoldenTexts(built, cases, f"{source.folder.path} with steps")
            exact = texts.run(graph)
            if built.contract.pair is not None:
                check_joined(built.whole, built.contract.pair, exact.golden, source.pair_prompt)
            if "words" in built.contract.settings:
                check_split(built.tokenizer, exact.golden)
        with timed("prove"):
            original = encoder.reference(Path(scratch))
            proven = _prove(exact, built.contract, encoder, original, steps)
        golden = exact_golden(exact)
        if reduced:
            with timed("precision"):
                reduce_precision(
                    settings,
                    model,
                    built.contract,
                    built.tokenizer,
                    exact.golden,
                    calibration,
                    graph.parent,
                )
                built = replace(built, opset=model.opset_imports[""])
                weights = _write_tail(model, beside, built.contract, out, tail)
                golden = reduced_golden(model, tail, settings.precision, exact, texts, steps)
        elif built.rounds:
            with timed("precision"):
                golden = rounding_golden(exact, tail, texts)
        with timed("write"):
            digest = container.tail_digest(tail)
            manifest = describe(
                source, encoder, steps, built, settings, digest, weights, golden.deviation
            )
            fixture = Fixture(
                fingerprint=manifest.fingerprint,
                made_by=reference(),
                tolerances=golden.tolerances,
                cases=embedded_cases(golden.cases),
            )
            container.write(out, tail, manifest, built.tokenizer.json, fixture)
            if replaced is not None and (weights is None or replaced.name != weights.file):
                replaced.unlink(missing_ok=True)
    return BakeReport(
        path=out,
        size=out.stat().st_size + (0 if weights is None else weights.length),
        manifest=manifest,
        cases=len(fixture.cases),
        differences={encoder.proves: proven, **golden.invariance},
        seconds=seconds,
        weights=None if weights is None else out.with_name(weights.file),
    )


def _write_tail(
    model: ir.Model, beside: bool, contract: Contract, out: Path, tail: Path
) -> Weights | None:
    """Write the graph that the model file ends with, and what lies beside it."""
    file = serialize(model, weights_name(out.stem) if beside else "")
    if file.size > LARGEST_FILE:
        raise too_large(model, file.size, contract, out)
    digest = file.write(tail)
    if digest is None:
        return None
    # The graph names its weights by their content, which is known only now.
    name = weights_name(out.stem, digest)
    weights = tail.with_name(file.weights).rename(tail.with_name(name))
    with tail.open("wb") as again:
        serialize(model, name).write_to(again)
    return Weights(file=name, length=weights.stat().st_size, sha256=digest)


def _prove(
    exact: GraphRun,
    contract: Contract,
    encoder: Encoder,
    original: SourceReference,
    steps: Sequence[Step],
) -> float:
    """Compare with the encoder alone; return the largest difference of the steps."""
    session = open_written(original.path, threads=THREADS, name=encoder.name)
    golden = exact.golden
    proven = prove_steps(golden, contract, session, original, steps)
    run = encoder_run(contract, session, original)
    check_invariance(exact.invariance, lambda: measure_invariance(golden, contract, run), steps)
    return proven


@contextmanager
def _timed(seconds: dict[str, float], progress: Progress, stage: str) -> Iterator[None]:
    progress(_STAGES[stage])
    start = time.perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - start
