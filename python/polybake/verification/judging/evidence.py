"""What a session keeps of its answers for reports, of a size that no number of cases changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polybake.base.modelfile.tolerance import Embeddings, Tolerance, differences
from polybake.verification.judging.golden import GoldenCase
from polybake.verification.judging.stages import Outcome
from polybake.verification.judging.worst_case import (
    WorstCase,
    read_vocabulary,
    shown_text,
    side_by_side,
)
from polybake.verification.verdict import MANY_STAGES, Stage, Status

#: The most rows that are kept: of a client, and of a case whose token ids differ.
MOST, _ROWS = 5, 3

#: A case, a row, and whether rows are texts; else a text has several rows, its vectors.
_Place = tuple[str, int, bool]


@dataclass(frozen=True)
class Difference:
    """The largest difference of a stage's elements from the golden ones.

    Attributes:
        limit: The tolerance's ``max_abs``; None for integers, which have their own slack each.
        largest: Of float32, divided by the golden row's norm if that is above 1, so that all rows
            have one limit. Of integers in steps, and of packed bits how many bits differ.
        case: The case that showed it; empty where nothing differs.
    """

    stage: Stage
    limit: float | None
    largest: float = 0.0
    case: str = ""


class Evidence:
    """Largest differences and worst cases of a client on a device."""

    def __init__(self) -> None:
        self._differences: dict[Stage, Difference] = {}
        self._rows: dict[_Place, WorstCase] = {}
        #: The expected and the client's token ids, if they differ.
        self._ids: dict[_Place, tuple[Sequence[int], Sequence[int]]] = {}

    def add(
        self, stage: Stage, golden: GoldenCase, results: Any, outcome: Outcome, tolerance: Tolerance
    ) -> None:
        """Add an answer and its outcome."""
        if stage is Stage.TOKENIZE and outcome.status is Status.FAIL:
            self._add_ids(golden, results)
        arrays = (outcome.vectors, *outcome.further)
        for output, vectors in zip(golden.outputs, arrays, strict=False):
            if vectors is not None and vectors.size:
                self._add_vectors(stage, output, vectors, tolerance)

    def differences(self) -> tuple[Difference, ...]:
        """Return the largest difference of each stage that gave vectors."""
        return tuple(self._differences.values())

    def worst(self, tokenizer: str) -> tuple[WorstCase, ...]:
        """The rows that differ most, other tokens first; ``tokenizer`` is its JSON."""
        vocabulary: Mapping[int, str] = read_vocabulary(tokenizer) if self._ids else {}
        rows = [(at, row) for at, row in self._rows.items() if at in self._ids or row.difference]
        rows.sort(key=lambda item: _rank(item[1], item[0] in self._ids))
        return tuple(
            replace(row, tokens=side_by_side(*self._ids[key], vocabulary))
            if key in self._ids
            else row
            for key, row in rows[:MOST]
        )

    def _add_ids(self, golden: GoldenCase, results: Any) -> None:
        rows = results["input_ids"] if isinstance(results, dict) else results
        pairs = enumerate(zip(golden.case.input_ids, rows, strict=False))
        for row, (expected, ids) in [pair for pair in pairs if [*pair[1][0]] != pair[1][1]][:_ROWS]:
            key = golden.case.id, row, True
            self._ids[key] = expected, ids
            self._rows[key] = _row(golden, key)

    def _add_vectors(
        self, stage: Stage, golden: GoldenCase, vectors: Embeddings, tolerance: Tolerance
    ) -> None:
        slack = golden.slack
        if slack is None:
            limit = tolerance.max_abs
            norms = np.linalg.norm(golden.vectors.astype(np.float64), axis=1, keepdims=True)
            distances = differences(golden.vectors, vectors, packed_bits=False)
            distances /= np.maximum(norms, 1.0)
            beyond = distances > limit
        else:
            limit = None
            distances = differences(golden.vectors, vectors, packed_bits=slack.packed_bits)
            beyond = slack.exceeded(golden.vectors, vectors)
        largest = float(distances.max(initial=0.0))
        known = self._differences.setdefault(stage, Difference(stage, limit))
        if largest > known.largest:
            self._differences[stage] = replace(known, largest=largest, case=golden.case.id)
        if stage in MANY_STAGES and not beyond.any():
            return  # the single cases show the same texts
        # For integers a large difference may be within the slack, and a small one beyond it.
        ranks = np.where(beyond, 1.0, 1.0 if slack is None else 0.0) * distances
        of_texts = len(golden.vectors) == len(golden.case.texts)
        worst = golden.case.id, int(ranks.max(axis=1).argmax()), of_texts
        for key in {worst, *(at for at in self._ids if of_texts and at[0] == golden.case.id)}:
            row = key[1]
            element = int(ranks[row].argmax())
            case = self._rows.get(key, _row(golden, key))
            difference = float(distances[row, element])
            if case.difference is None or difference > case.difference:
                self._rows[key] = replace(
                    case,
                    beyond=bool(beyond[row, element]),
                    stage=stage,
                    element=element,
                    expected=float(golden.vectors[row, element]),
                    found=float(vectors[row, element]),
                    difference=difference,
                    limit=limit,
                )


def _row(golden: GoldenCase, key: _Place) -> WorstCase:
    case, (_, row, of_text) = golden.case, key
    if of_text:
        text = shown_text(case.texts[row])
    else:  # the text of a vector is only known if there is just one text
        text = shown_text(case.texts[0]) if len(case.texts) == 1 else ()
    return WorstCase(case.id, case.why, case.prompt, row, text)


def _rank(row: WorstCase, other_tokens: bool) -> tuple[bool, bool, float]:
    return not other_tokens, not row.beyond, -(row.difference or 0.0)
