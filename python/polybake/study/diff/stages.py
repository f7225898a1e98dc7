"""Run two model files on the same texts, stage by stage, to find where they differ.

The stages are verify's: ``tokenize`` compares token ids, ``embed_ids`` runs both graphs on the
first file's ids, and ``embed`` runs each file as a whole.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from polybake.base.modelfile.container import FileHead
from polybake.base.modelfile.manifest import Contract
from polybake.base.modelfile.rows import Rows, packed, unpacked
from polybake.base.modelfile.tolerance import Embeddings, Tolerance
from polybake.runtime.processors import processors
from polybake.runtime.runner import Runner
from polybake.runtime.session import open_session
from polybake.runtime.tokenizer import BakedTokenizer
from polybake.study.diff.parts import ModelParts
from polybake.study.diff.samples import Sample
from polybake.study.diff.search_vectors import SearchVectors
from polybake.study.diff.stage_result import StageResult
from polybake.verification.verdict import Stage


def compare_stages(
    parts: ModelParts,
    samples: Iterable[Sample],
    search: SearchVectors,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[StageResult, ...]:
    """Run texts through both files; return the results of the three stages.

    There is only ``tokenize`` if vectors of the two files cannot be compared. ``search`` receives
    the vectors of texts that have a role in the search.
    """
    runners = _runner(parts.before), _runner(parts.after)
    output, tolerance = runners[0].contract.output, strictest(parts)
    tokens, graphs, files = (
        StageResult(stage, tolerance, output.dtype != "float32", output.packed_bits)
        for stage in (Stage.TOKENIZE, Stage.EMBED_IDS, Stage.EMBED)
    )
    for sample in samples:
        progress(f"{tokens.texts} texts")
        before, after = (
            replace(runner, contract=sample.prompt.contract(runner.contract)) for runner in runners
        )
        texts, slack = sample.texts, dict(enumerate(sample.slacks))
        rows = before.ids(texts)
        inputs = [repacked(row, before.contract, after.contract) for row in rows]
        own: Rows = after.ids(texts)
        for at, text in enumerate(texts):
            tokens.add(text, same=inputs[at] == own[at])
        if parts.obstacle and not sample.roles:
            continue
        old, new = vectors_of(before, rows), vectors_of(after, own)
        search.add(sample.roles, old, new)
        if parts.obstacle:
            continue
        known = {at: row for at, row in enumerate(inputs) if row is not None}
        after_own = new if inputs == own else vectors_of(after, [*known.values()])
        for at, text in enumerate(texts):
            files.add_vectors(text, old[at], new[at], slack.get(at))
        for at, vectors in zip(known, after_own, strict=True):
            graphs.add_vectors(texts[at], old[at], vectors, slack.get(at))
    return (tokens,) if parts.obstacle else (tokens, graphs, files)


def strictest(parts: ModelParts) -> Tolerance:
    """Return the smaller of the tolerances that the two files allow a client.

    A file of fewer bits allows as much as rounding changed; that does not make it the same as the
    exact file.
    """
    old, new = (head.fixture.tolerances["cpu"] for head in (parts.before, parts.after))
    return Tolerance(
        max_abs=min(old.max_abs, new.max_abs),
        one_minus_cosine=min(old.one_minus_cosine, new.one_minus_cosine),
    )


def vectors_of(runner: Runner, rows: Rows) -> list[Embeddings]:
    """Return ``[vectors, dimension]`` for each row; most models have 1 vector a row."""
    if runner.contract.output.counts is None:
        return [*runner.embed(rows)[:, None]]
    return [vectors for row in rows for vectors in runner.of_each([row])]


def repacked(row: Sequence[int], before: Contract, after: Contract) -> list[int] | None:
    """Convert a row for the other file's graph; None if that graph does not take its ids."""
    ids, types = unpacked(row, before.vocab_size) if before.pair else (row, [0] * len(row))
    if len(ids) > after.max_length or max(ids, default=0) >= after.vocab_size:
        return None
    return packed(ids, types, after.vocab_size)


def _runner(head: FileHead) -> Runner:
    contract = head.manifest.contract
    tokenizer = BakedTokenizer.of(head.tokenizer, contract)
    return Runner(open_session(head.path), contract, tokenizer, processors())
