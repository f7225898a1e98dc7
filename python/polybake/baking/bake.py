"""Bake an encoder and its steps into one model file, and prove it before writing."""

from __future__ import annotations

import dataclasses
import gc
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from polybake import __version__
from polybake.baking import prompt_length as promptlength
from polybake.baking import routes
from polybake.baking.expose import expose_values
from polybake.baking.fold import finish, fold
from polybake.baking.invariance import check_invariance, measure_invariance
from polybake.baking.proof import prove_steps
from polybake.baking.vocabulary import fitted, table_rows
from polybake.errors import InputError
from polybake.fixtures.edges import Edges
from polybake.fixtures.embedded import embedded_cases
from polybake.fixtures.golden import THREADS, contract_cases, golden_cases, reference
from polybake.fixtures.texts import CaseText
from polybake.graph.check import check_graph
from polybake.graph.write import serialize
from polybake.modelfile import container as modelfile
from polybake.modelfile import manifest as manifests
from polybake.modelfile.fixture import TOLERANCES, Case, Fixture
from polybake.modelfile.manifest import Contract, Manifest
from polybake.runtime.session import open_session
from polybake.sources.source import Source
from polybake.steps import Step


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

    Raises:
        InputError: a step does not fit, an exposed name is unknown, or the name or the size is
            not possible.
        CheckFailed: a proof failed; nothing is written.
    """
    try:
        manifests.checked_name(name)
    except ValueError as error:
        raise InputError(f"name: {error}") from error
    route = routes.route_step(steps)
    used_prompts = routes.with_routes(source.prompts if prompts is None else prompts, route)
    if "" in used_prompts:
        raise InputError(
            f"prompts: {used_prompts['']!r} has the empty name, which no call can ask for; name it"
        )
    used_default = _default_prompt(source, prompts, default_prompt)
    _check_place(out)
    encoder = source.encoder_before(steps)
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="polybake-") as scratch:
        tail = Path(scratch) / "tail.onnx"
        with _timed(seconds, "build"):
            graph = encoder.place()
            folded = fold(steps, graph, functions=functions)
            output = finish(folded, steps, graph)
            expose_values(expose, graph, steps, folded.results)
            opset, inputs = graph.model.opset_imports[""], graph.inputs
            tokenizer, vocab_size = fitted(source.tokenizer, table_rows(graph.tokens.input_ids))
            if any(map(promptlength.excludes_prompt, steps)):
                inputs = (*inputs, promptlength.prompt_length_input(used_prompts, source.tokenizer))
            if route is not None:
                inputs = (*inputs, routes.route_input(used_prompts, used_default, route))
            check_graph(graph.model, source.folder)
            file = serialize(graph.model)
            modelfile.check_size(file.size, out)
            file.write(tail)
            source = dataclasses.replace(source, tokenizer=tokenizer)
            # The runs below need the memory of the weights, which a graph's cycles hold on to.
            del graph, file
            gc.collect()
        contract = Contract(
            inputs=inputs,
            output=output,
            vocab_size=vocab_size,
            max_length=source.tokenizer.max_length,
            pad_id=source.tokenizer.pad_id,
            pad_side=source.tokenizer.pad_side,
            prompts=used_prompts,
            default_prompt=used_default,
        )
        with _timed(seconds, "golden"):
            golden, invariance = _run(tail, contract, source, extra_cases)
        with _timed(seconds, "prove"):
            found = encoder.reference(Path(scratch))
            session = open_session(found.path, threads=THREADS, name=source.folder)
            proven = prove_steps(golden, contract, session, found, steps)
            check_invariance(invariance, golden, contract, session, found, steps)
            del session
        with _timed(seconds, "write"):
            digest = modelfile.tail_digest(tail)
            tokenizer_digest = modelfile.sha256(source.tokenizer.json.encode("ascii"))
            manifest = Manifest(
                name=name,
                description=description,
                contract=contract,
                similarity="hamming" if output.packed_bits else source.similarity,
                steps=tuple(str(step) for step in steps),
                encoder=encoder.name,
                opset=opset,
                source=manifests.Source(identifier=source.identifier, licence=source.licence),
                generator=__version__,
                fingerprint=manifests.fingerprint(digest, tokenizer_digest, contract),
                verified=encoder.proves,
                exposed=tuple(expose),
            )
            fixture = Fixture(
                fingerprint=manifest.fingerprint,
                made_by=reference(),
                tolerances=TOLERANCES,
                cases=embedded_cases(golden),
            )
            modelfile.write(out, tail, digest, manifest, source.tokenizer.json, fixture)
    return BakeReport(
        path=out,
        size=out.stat().st_size,
        manifest=manifest,
        cases=len(fixture.cases),
        differences={encoder.proves: proven, **invariance},
        seconds=seconds,
    )


def _run(
    tail: Path, contract: Contract, source: Source, extra_cases: Sequence[CaseText]
) -> tuple[list[Case], dict[str, float]]:
    """Make the golden cases, and measure how far a vector depends on its batch."""
    cases = [*contract_cases(contract, source.tokenizer), *extra_cases]
    session = open_session(tail, threads=THREADS, name=f"{source.folder} with its steps")
    edges = Edges.of(tail, contract.output)
    golden = golden_cases(cases, contract, source.tokenizer, session, edges)
    return golden, measure_invariance(golden, contract, session)


def _check_place(out: Path) -> None:
    """Check that what is overwritten, if anything, is an earlier bake.

    Raises:
        InputError: it is something else, such as the source.
    """
    if out.exists() and not (out.is_file() and modelfile.is_baked(out)):
        raise InputError(
            f"{out}: is there already, and is no file that polybake wrote; "
            "choose another --output, or remove it"
        )


def _default_prompt(
    source: Source, prompts: Mapping[str, str] | None, default_prompt: str | None
) -> str | None:
    """The named prompt, or the source's where its prompts are kept."""
    found = default_prompt or (source.default_prompt if prompts is None else None)
    known = source.prompts if prompts is None else prompts
    if found is not None and found not in known:
        raise InputError(
            f"default prompt {found!r} is unknown; choose one of: {', '.join(known) or 'none'}"
        )
    return found


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
