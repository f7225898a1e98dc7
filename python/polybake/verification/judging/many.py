"""Many golden texts at a time: the answers to a list and to a stream of several batches.

No golden case fills more than two batches, so a lost batch would go unnoticed.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import accumulate, cycle

import numpy as np

from polybake.base.modelfile.fixture import Case, Device, Text, encode_vectors
from polybake.base.modelfile.tolerance import Embeddings, Slack
from polybake.verification.judging.calls import have_stream, stream_of
from polybake.verification.judging.golden import Golden, GoldenCase
from polybake.verification.verdict import SESSION, Stage

#: The tokens of a batch of every generated client. Source: docs/protocol.md, "Vectors".
BUDGETS: dict[Device, int] = {"cpu": 512, "cuda": 16_384}

#: The least texts of a list: two batches of 32 texts, and a short batch.
LEAST = 67

#: How many budgets the different texts, and the whole list, may fill: a slow model must end, too.
_DIFFERENT, _MOST = 4, 16

#: The most elements of an answer.
_ELEMENTS = 1 << 24

_WHY = "Batches are lost, doubled or mixed up, which no call of few texts shows."


def many_texts(golden: Golden, device: Device) -> Iterator[tuple[Stage, GoldenCase]]:
    """Yield what is asked once: a list and a stream that repeat the cases' texts in mixed order.

    Their number follows from how every client cuts batches: at least three, the last one short.
    """
    groups: dict[str | None, list[GoldenCase]] = {}
    for case in golden.cases:
        groups.setdefault(case.case.prompt, []).extend(_parts(case, whole=golden.counted))
    parts = max(groups.values(), key=len) or [golden.cases[0]]
    sizes = [sum(output.vectors.size for output in part.outputs) for part in parts]
    most = max(1, _ELEMENTS // max(1, max(sizes)))
    lengths = [sum(map(len, part.case.input_ids)) for part in parts]
    numbers = enough(lengths, BUDGETS[device], most)
    listed = _joined([parts[number] for number in mixed(numbers, "list")])
    yield Stage.BATCHES, listed
    cases = [case.case for case in golden.cases]
    if not have_stream(cases):
        return
    call = stream_of(cases, lambda lengths: mixed(enough(lengths, BUDGETS[device], most), "stream"))
    if call is None:
        yield Stage.STREAM, _joined([parts[number] for number in mixed(numbers, "stream")])
    else:
        stream = listed.case.model_copy(update={"call": call.arguments, "answer": call.answer})
        yield Stage.STREAM, replace(listed, case=stream)


def batch_sizes(lengths: Iterable[int], budget: int) -> Iterator[tuple[int, int]]:
    """How many rows each batch of a client has, and how many it could have.

    Source: docs/protocol.md, "Vectors".
    """
    rows = sorted(lengths, reverse=True)
    while rows:
        longest = max(1, rows[0])
        room = max(1, min(budget // longest, 512 * budget // longest**2))
        yield len(rows[:room]), room
        del rows[:room]


def enough(lengths: Sequence[int], budget: int, most: int) -> list[int]:
    """Return numbers of texts that fill at least three batches, the last of them not full.

    Each text is taken once, without the longest if all together are too many; then short texts
    are repeated.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    sums = accumulate(lengths[number] for number in order)
    pool = [number for number, upto in zip(order, sums, strict=True) if upto <= _DIFFERENT * budget]
    pool = pool or order[:1]
    numbers = pool[:most]
    rows = sorted(lengths[number] for number in numbers)  # thousands, where a budget is large
    for number in cycle(pool):
        sizes = [*batch_sizes(rows, budget)]
        several = len(sizes) > 2 and sizes[-1][0] < sizes[-1][1]
        if len(numbers) >= most or (several and len(numbers) >= LEAST):
            break
        if len(sizes) > 2 and sum(rows) > _MOST * budget:
            break
        numbers.append(number)
        insort(rows, lengths[number])
    return numbers


def mixed(numbers: Sequence[int], salt: str) -> list[int]:
    """Shuffle numbers; each salt always gives the same order."""
    places = sorted(
        range(len(numbers)), key=lambda index: sha256(f"{salt} {index}".encode()).digest()
    )
    return [numbers[index] for index in places]


def _parts(golden: GoldenCase, *, whole: bool) -> Iterator[GoldenCase]:
    """Yield a case for each text; the whole case if its vectors cannot be split by text."""
    if whole:
        yield golden
        return
    case = golden.case
    for row in range(len(case.texts)):
        part = slice(row, row + 1)
        slack = golden.slack and Slack(golden.slack.values[part], golden.slack.packed_bits)
        yield _case(
            case.prompt, case.texts[part], case.input_ids[part], golden.vectors[part], slack
        )


def _joined(parts: Sequence[GoldenCase]) -> GoldenCase:
    case = _case(
        parts[0].case.prompt,
        tuple(text for part in parts for text in part.case.texts),
        tuple(ids for part in parts for ids in part.case.input_ids),
        np.concatenate([part.vectors for part in parts]),
        Slack.of_rows([part.slack for part in parts]),
    )
    further = (
        replace(
            case, vectors=np.concatenate([output.vectors for output in same]), output=same[0].output
        )
        for same in zip(*(part.further for part in parts), strict=True)
    )
    return replace(case, output=parts[0].output, further=tuple(further))


def _case(
    prompt: str | None,
    texts: tuple[Text, ...],
    input_ids: tuple[tuple[int, ...], ...],
    vectors: Embeddings,
    slack: Slack | None,
) -> GoldenCase:
    case = Case(
        id=SESSION,
        why=_WHY,
        prompt=prompt,
        texts=texts,
        input_ids=input_ids,
        embeddings=encode_vectors(vectors, slack),
    )
    return GoldenCase(case, vectors, slack)
