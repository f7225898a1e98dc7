"""Bake an encoder and its steps into one model file, and prove it before writing."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from polybake import __version__
from polybake.baking.expose import expose_values
from polybake.baking.fold import fold
from polybake.baking.invariance import (
    baked_run,
    check_invariance,
    encoder_run,
    measure_invariance,
)
from polybake.baking.prompts import Prompts, bake_prompts
from polybake.baking.proof import prove_steps
from polybake.baking.vocabulary import fitted, table_rows
from polybake.errors import InputError
from polybake.files.scratch import Scratch
from polybake.fixtures.edges import Edges
from polybake.fixtures.embedded import embedded_cases
from polybake.fixtures.golden import THREADS, contract_cases, golden_cases, reference
from polybake.fixtures.texts import CaseText
from polybake.graph.check import check_graph
from polybake.graph.slow_fusions import avoid_slow_fusions
from polybake.graph.storage import store_narrow
from polybake.graph.write import GraphFile, serialize
from polybake.modelfile import container, manifest
from polybake.modelfile.fixture import TOLERANCES, Case, Fixture
from polybake.modelfile.manifest import Contract, Manifest
from polybake.runtime.runner import Runner
from polybake.runtime.session import open_session
from polybake.sources.source import Encoder, Source
from polybake.steps import Step
from polybake.tokenization.tokenizer import BakedTokenizer

#: Is told what begins, such as ``proving the steps``.
Progress = Callable[[str], None]

_STAGES = {
    "build": "building the graph",
    "golden": "making golden vectors",
    "prove": "proving the steps",
    "write": "writing the file",
}


def quiet(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class BakeReport:
    """What a bake wrote and proved.

    Attributes:
        path: The model file.
        size: Its bytes.
        manifest: As the file carries it; ``manifest.verified`` says how far it was proven.
        cases: Golden cases inside the file.
        differences: The largest difference that each proof saw, by its name.
        seconds: Wall time by stage.
    """

    path: Path
    size: int
    manifest: Manifest
    cases: int
    differences: Mapping[str, float]
    seconds: Mapping[str, float]


def bake(
    source: Source,
    steps: Sequence[Step],
    out: Path,
    *,
    name: str,
    description: str = "",
    prompts: Mapping[str, str] | None = None,
    default_prompt: str | None = None,
    extra_cases: Sequence[CaseText] = (),
    functions: bool = False,
    expose: Sequence[str] = (),
    progress: Progress = quiet,
) -> BakeReport:
    """Fold ``steps`` over the encoder of ``source``, prove the result, and write it to ``out``.

    Args:
        source: What `polybake.sources.open_source` gave.
        steps: What `polybake.recipe.resolve.resolve` gave.
        out: The model file to write; its folder is made where it is missing.
        name: Names packages and modules of the clients.
        description: For people.
        prompts: Prompt texts by name; None takes the source's.
        default_prompt: The prompt used when none is named; None takes the source's.
        extra_cases: The user's own cases, after the built-in ones.
        functions: Bake each step as an ONNX function, which viewers show as one node.
        expose: What to add as outputs, for debugging; see `polybake.baking.expose`.
        progress: Told what begins.

    Raises:
        InputError: a step does not fit, an exposed name is unknown, or the name or the size is
            not possible.
        CheckFailed: a proof failed; nothing is written.
    """
    try:
        manifest.checked_name(name)
    except ValueError as error:
        raise InputError(f"name: {error}") from error
    _check_place(out)
    used = bake_prompts(source, steps, prompts, default_prompt)
    pools = any(step.pools for step in steps)
    encoder = source.encoder if pools or source.pooled is None else source.pooled
    seconds: dict[str, float] = {}
    timed = partial(_timed, seconds, progress)
    with Scratch() as scratch:
        tail = Path(scratch) / "tail.onnx"
        with timed("build"):
            file, built = _build(source, encoder, steps, used, functions, expose, out)
            file.write(tail)
            del file
            # The runs below need the memory of the weights, which a graph's cycles hold on to.
            gc.collect()
        with timed("golden"):
            session = open_session(tail, threads=THREADS, name=f"{source.folder.path} with steps")
            runner = Runner(session, built.contract, built.tokenizer)
            cases = [*contract_cases(built.contract, built.tokenizer), *extra_cases]
            golden = golden_cases(cases, runner, Edges.of(tail, built.contract.output))
            invariance = measure_invariance(golden, built.contract, baked_run(runner))
            del session, runner
        with timed("prove"):
            proven = _prove(golden, built.contract, invariance, encoder, steps, Path(scratch))
        with timed("write"):
            digest = container.tail_digest(tail)
            written = _manifest(source, encoder, steps, built, digest, name, description, expose)
            fixture = Fixture(
                fingerprint=written.fingerprint,
                made_by=reference(),
                tolerances=TOLERANCES,
                cases=embedded_cases(golden),
            )
            container.write(out, tail, digest, written, built.tokenizer.json, fixture)
    return BakeReport(
        path=out,
        size=out.stat().st_size,
        manifest=written,
        cases=len(fixture.cases),
        differences={encoder.proves: proven, **invariance},
        seconds=seconds,
    )


@dataclass(frozen=True)
class _Built:
    """How a graph is called."""

    contract: Contract
    tokenizer: BakedTokenizer
    opset: int


def _build(
    source: Source,
    encoder: Encoder,
    steps: Sequence[Step],
    prompts: Prompts,
    functions: bool,
    expose: Sequence[str],
    out: Path,
) -> tuple[GraphFile, _Built]:
    """Place the encoder and fold the steps over it; the weights are read one at a time."""
    graph = encoder.place()
    folded = fold(steps, graph, prompts.inputs, functions=functions)
    expose_values(expose, graph, steps, folded.results)
    tokenizer, vocab_size = fitted(source.tokenizer, table_rows(graph.state.input_ids))
    container.check_size(serialize(graph.model).size // 2, out)  # before any weight is read
    avoid_slow_fusions(graph.model)
    store_narrow(graph.model)
    file = serialize(graph.model)
    container.check_size(file.size, out)
    check_graph(graph.model, source.folder.path)
    contract = Contract(
        inputs=(*graph.inputs, *prompts.inputs),
        output=folded.output,
        vocab_size=vocab_size,
        max_length=tokenizer.max_length,
        pad_id=tokenizer.pad_id,
        pad_side=tokenizer.pad_side,
        prompts=dict(prompts.texts),
        default_prompt=prompts.default,
    )
    return file, _Built(contract, tokenizer, graph.model.opset_imports[""])


def _prove(
    golden: Sequence[Case],
    contract: Contract,
    invariance: Mapping[str, float],
    encoder: Encoder,
    steps: Sequence[Step],
    scratch: Path,
) -> float:
    """Compare with the encoder alone; the largest difference of the steps.

    Raises:
        CheckFailed: a difference exceeds the limit.
    """
    found = encoder.reference(scratch)
    session = open_session(found.path, threads=THREADS, name=encoder.name)
    proven = prove_steps(golden, contract, session, found, steps)
    run = encoder_run(contract, session, found)
    check_invariance(invariance, lambda: measure_invariance(golden, contract, run), steps)
    return proven


def _manifest(
    source: Source,
    encoder: Encoder,
    steps: Sequence[Step],
    built: _Built,
    tail_digest: str,
    name: str,
    description: str,
    exposed: Sequence[str],
) -> Manifest:
    """All that templates and clients may know."""
    tokenizer_digest = container.sha256(built.tokenizer.json.encode("ascii"))
    return Manifest(
        name=name,
        description=description,
        contract=built.contract,
        similarity="hamming" if built.contract.output.packed_bits else source.similarity,
        steps=tuple(map(str, steps)),
        encoder=encoder.name,
        opset=built.opset,
        source=manifest.Provenance(
            identifier=source.folder.identifier, licence=source.folder.licence()
        ),
        generator=__version__,
        fingerprint=manifest.fingerprint(tail_digest, tokenizer_digest, built.contract),
        verified=encoder.proves,
        exposed=tuple(exposed),
    )


def _check_place(out: Path) -> None:
    """Check that what is overwritten, if anything, is an earlier bake.

    Raises:
        InputError: it is something else, such as the source.
    """
    if out.exists() and not (out.is_file() and container.is_baked(out)):
        raise InputError(
            f"{out}: is there already, and is no file that polybake wrote; "
            "choose another --output, or remove it"
        )


@contextmanager
def _timed(seconds: dict[str, float], progress: Progress, stage: str) -> Iterator[None]:
    progress(_STAGES[stage])
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
