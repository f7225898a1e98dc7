"""Make golden cases by running a baked model."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.baking.golden.edges import Edges
from polybake.baking.golden.texts import CaseText, builtin_cases
from polybake.baking.tasks import TASKS, Outputs, known_of
from polybake.base.modelfile.container import ascii_json, read_head
from polybake.base.modelfile.fixture import (
    Case,
    Fixture,
    MadeBy,
    Vectors,
    decode_vectors,
    encode_vectors,
)
from polybake.base.modelfile.manifest import UNQUANTIZED, Contract
from polybake.base.modelfile.rows import Rows, unpacked
from polybake.runtime.embedder import Embedder
from polybake.runtime.runner import Runner
from polybake.runtime.tokenizer import BakedTokenizer

#: One thread: the order of additions, and so the last bits, depends on the number of threads.
THREADS = 1

#: The cases that run at the same time; more would need too much memory for activations.
_SIDE_BY_SIDE = min(4, os.cpu_count() or 1)


def make_fixture(path: Path, cases: Sequence[CaseText]) -> Fixture:
    """Run ``cases`` through the baked model at ``path``."""
    embedder = Embedder(path, threads=THREADS)
    tolerances = embedder.head.fixture.tolerances
    edges = Edges.of(path, embedder.runner.contract.output, tolerances)
    return Fixture(
        fingerprint=embedder.manifest.fingerprint,
        made_by=reference(),
        tolerances=tolerances,
        cases=tuple(golden_cases(cases, embedder.runner, edges)),
    )


def cases_for(path: Path, extra: Sequence[CaseText] = ()) -> list[CaseText]:
    """The built-in cases for the baked model at ``path``, then ``extra``."""
    head = read_head(path)
    contract = head.manifest.contract
    return [*contract_cases(contract, BakedTokenizer.of(head.tokenizer, contract)), *extra]


def contract_cases(contract: Contract, tokenizer: BakedTokenizer) -> list[CaseText]:
    """The built-in cases for a model's prompts and length."""
    return builtin_cases(
        prompts=contract.prompts, token_count=tokenizer.count, max_length=contract.max_length
    )


def golden_cases(cases: Sequence[CaseText], runner: Runner, edges: Edges | None) -> list[Case]:
    """Add token ids and embeddings to each case, with one run per case.

    A case with a text without tokens is left out if the encoder makes no numbers of it. Cases run
    at the same time, each on one thread, so the vectors do not depend on the number of cores.
    """
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        results = pool.map(lambda case: _golden_case(case, runner, edges), cases)
        return [case for case in results if case is not None]


def _golden_case(case: CaseText, runner: Runner, edges: Edges | None) -> Case | None:
    task, contract = TASKS[runner.contract.task], runner.contract
    known = known_of(contract, runner.tokenizer)
    texts, call = task.texts(case.texts, known), task.call(case.texts, known)
    if call is not None and task.prompted:
        call["prompt"] = case.prompt
    rows = runner.ids(texts, case.prompt)
    further: dict[str, list[NDArray[Any]]] = {}
    if contract.further_outputs:
        further = runner.of_all(rows, case.prompt)
        vectors, counts = encode_vectors(np.concatenate(further.pop(contract.output.name))), None
    else:
        vectors, counts = _vectors(runner, rows, case.prompt, edges)
    array = decode_vectors(vectors)
    split = [unpacked(row, contract.vocab_size) for row in rows]
    answer = call and task.answer(Outputs(array, call, known, counts, rows, further))
    arrays = [array, *(part for parts in further.values() for part in parts)]
    if not all(rows) and not all(np.isfinite(part).all() for part in arrays):
        return None
    return Case(
        id=case.id,
        why=case.why,
        flags=case.flags,
        prompt=case.prompt,
        texts=texts,
        input_ids=tuple(ids for ids, _ in split),
        type_ids=None if contract.pair is None else tuple(types for _, types in split),
        embeddings=vectors,
        further={name: encode_vectors(np.concatenate(parts)) for name, parts in further.items()}
        or None,
        call=None if answer is None else call,
        answer=answer,
    )


def _vectors(
    runner: Runner, rows: Rows, prompt: str | None, edges: Edges | None
) -> tuple[Vectors, NDArray[np.int64] | None]:
    """Return the vectors of rows, and each row's number of vectors; None if it is one."""
    output = runner.contract.output
    if output.counts is not None:
        embeddings, counts = runner.outputs(rows, [output.name, output.counts], prompt)
        return encode_vectors(embeddings), counts
    if edges is None:
        # Clients of other tasks read every element.
        dense = runner.contract.task != "sparse"
        return encode_vectors(runner.vectors(rows, prompt), dense=dense), None
    embeddings, unquantized = runner.outputs(rows, [output.name, UNQUANTIZED], prompt)
    return encode_vectors(embeddings, edges.slack(unquantized)), None


def reference() -> MadeBy:
    """Return the record that ONNX Runtime made the vectors, with the versions."""
    # The package may also be called onnxruntime-gpu, so the module's version is taken.
    packages = {"onnxruntime": ort.__version__}
    packages |= {name: version(name) for name in ("tokenizers", "numpy")}
    return MadeBy(kind="reference", packages=packages)


#: The most bytes of the fixture's JSON, which every client reads when it opens the file.
LARGEST = 200_000

#: Further bytes for kinds of cases that would not fit at all: a row may be as wide as a
#: vocabulary, or hold all tokens of a long text.
LARGEST_KINDS = 4_000_000

#: The bytes that are left for all that is not a case.
_ENVELOPE = 1_000

#: The flags of which one case represents many.
_ALIKE = {"prompt", "unicode", "user"}


def embedded_cases(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases that fit the size limits, in order of priority; each kind has a case."""
    selection: list[Case] = []
    kinds: set[object] = set()
    room, more = LARGEST - _ENVELOPE, LARGEST_KINDS
    for case in cases:
        size = len(ascii_json(case.model_dump(mode="json", exclude_none=True))) + 1
        kind = case.flags if _ALIKE.intersection(case.flags) else case.id
        if size <= room:
            room -= size
        elif kind not in kinds and size <= more:
            more -= size
        else:
            continue
        kinds.add(kind)
        selection.append(case)
    return tuple(selection)
