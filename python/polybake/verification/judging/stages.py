"""The stages of a case: the requests, and how the answers are judged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from polybake.base.modelfile.fixture import Case, Vectors, decode_vectors
from polybake.base.modelfile.rows import Rows
from polybake.base.modelfile.tolerance import (
    Embeddings,
    Tolerance,
    compare_ids,
    compare_vectors,
    largest_difference,
)
from polybake.verification.harness.protocol import (
    Call,
    Embed,
    EmbedIds,
    EncodedVectors,
    Places,
    Request,
    Stream,
    Tokenize,
    TypedRows,
)
from polybake.verification.judging.answers import compare_answers
from polybake.verification.judging.calls import ClientCall, client_calls, have_stream
from polybake.verification.judging.golden import GoldenCase
from polybake.verification.verdict import Stage, Status

_IDS = TypeAdapter(list[list[int]])
_NUMBER: TypeAdapter[float] = TypeAdapter(Annotated[float, Field(allow_inf_nan=False)])


@dataclass(frozen=True)
class Outcome:
    """The outcome of a request."""

    status: Status
    message: str = ""
    difference: float | None = None
    #: ``[texts, dimension]``, if they are finite and of the golden dtype and shape.
    vectors: Embeddings | None = None
    #: The same of each further output.
    further: tuple[Embeddings | None, ...] = ()


def stages_of(case: Case) -> tuple[Stage, ...]:
    """Return the stages of a case, in order.

    ``embed`` comes before ``embed_ids``, which has the same answer: else a client that runs nothing
    and returns what is left in memory would give the right answer.
    """
    stages = (Stage.TOKENIZE, Stage.EMBED, Stage.EMBED_IDS)
    return stages if case.call is None else (*stages, Stage.CALL)


def session_stages(cases: Iterable[Case]) -> tuple[Stage, ...]:
    """Return the stages that are asked once, after the cases, in order."""
    many = (Stage.BATCHES, Stage.STREAM) if have_stream(cases) else (Stage.BATCHES,)
    return (*many, Stage.ARGUMENTS, Stage.SELF_CHECK, Stage.STOP)


def requests_for(stage: Stage, case: Case) -> tuple[Request, ...]:
    """Return the requests for a stage of a case: a call may take several."""
    if stage is Stage.TOKENIZE:
        return (Tokenize(texts=case.texts, prompt=case.prompt),)
    if stage is Stage.EMBED_IDS:
        return (EmbedIds(input_ids=case.input_ids, type_ids=case.type_ids, prompt=case.prompt),)
    if stage is Stage.CALL:
        return tuple(Call.model_validate(call.arguments) for call in client_calls(case))
    if stage is Stage.STREAM:
        return (Stream.model_validate(case.call or {"texts": case.texts, "prompt": case.prompt}),)
    return (Embed(texts=case.texts, prompt=case.prompt),)


def judge_case(
    stage: Stage,
    golden: GoldenCase,
    results: Sequence[object],
    tolerance: Tolerance,
    places: Places = "code_points",
) -> Outcome:
    """Judge the answers to a stage of a case."""
    case = golden.case
    if stage is Stage.CALL:
        return _judge_calls(client_calls(case), results, places)
    if stage is Stage.STREAM and case.call is not None:
        return _judge_calls([ClientCall(case.call, case.answer)], results, places)
    return _judge_result(stage, golden, results[0], tolerance)


def _judge_calls(calls: Sequence[ClientCall], results: Sequence[object], places: Places) -> Outcome:
    """Judge a task's own answers; the first that differs is the outcome."""
    for call, result in zip(calls, results, strict=True):
        message = compare_answers(call.answer_in(places), call.cut(result), top=call.top)
        if message:
            return Outcome(Status.FAIL, message)
    return Outcome(Status.PASS)


def _judge_result(
    stage: Stage, golden: GoldenCase, results: object, tolerance: Tolerance
) -> Outcome:
    if stage is Stage.TOKENIZE:
        return _judge_ids(golden, results)
    if golden.further:
        return _judge_outputs(golden, results, tolerance)
    return _judge_vectors(golden, results, tolerance)


def judge_self_check(results: object, limit: float) -> Outcome:
    """Judge the largest difference that a client saw in its own self-check."""
    try:
        difference = _NUMBER.validate_python(results, strict=True)
    except ValidationError:
        return Outcome(Status.ERROR, f"self_check gave {results!r:.100}, expected a number")
    if not 0.0 <= difference <= limit:
        message = f"self_check gave {difference:.3g}, expected 0 to {limit:.3g}"
        return Outcome(Status.FAIL, message, difference)
    return Outcome(Status.PASS, difference=difference)


def _judge_ids(golden: GoldenCase, results: object) -> Outcome:
    case = golden.case
    if case.type_ids is not None:
        return _judge_typed(case.input_ids, case.type_ids, results)
    try:
        rows = _IDS.validate_python(results, strict=True)
    except ValidationError:
        return Outcome(Status.ERROR, "results are not rows of integers")
    difference = compare_ids(case.input_ids, rows)
    return Outcome(Status.FAIL, difference.message) if difference else Outcome(Status.PASS)


def _judge_typed(input_ids: Rows, type_ids: Rows, results: object) -> Outcome:
    try:
        rows = TypedRows.model_validate(results, strict=True)
    except ValidationError:
        return Outcome(Status.ERROR, "results are not input_ids and type_ids: rows of integers")
    difference = compare_ids(input_ids, rows.input_ids)
    if difference:
        return Outcome(Status.FAIL, difference.message)
    difference = compare_ids(type_ids, rows.type_ids)
    if difference:
        return Outcome(Status.FAIL, f"types of tokens: {difference.message}")
    return Outcome(Status.PASS)


def _judge_outputs(golden: GoldenCase, results: object, tolerance: Tolerance) -> Outcome:
    """Judge vectors by the names of the outputs; the worst outcome counts."""
    names = [case.output for case in golden.outputs]
    if not isinstance(results, dict) or sorted(results) != sorted(names):
        return Outcome(Status.ERROR, f"results are not the vectors of {', '.join(names)}")
    judgements = [_judge_vectors(case, results[case.output], tolerance) for case in golden.outputs]
    worst, message = next(
        (
            (outcome.status, f"{name}: {outcome.message}")
            for status in (Status.ERROR, Status.FAIL)
            for name, outcome in zip(names, judgements, strict=True)
            if outcome.status is status
        ),
        (Status.PASS, ""),
    )
    differences = [outcome.difference for outcome in judgements if outcome.difference is not None]
    vectors, *further = (outcome.vectors for outcome in judgements)
    return Outcome(worst, message, max(differences, default=None), vectors, tuple(further))


def _judge_vectors(golden: GoldenCase, results: object, tolerance: Tolerance) -> Outcome:
    try:
        encoded = EncodedVectors.model_validate(results)
    except ValidationError:
        return Outcome(Status.ERROR, "results are not vectors: dtype, shape and data")
    dtype, shape = golden.vectors.dtype.name, list(golden.vectors.shape)
    if encoded.dtype != dtype:
        return Outcome(Status.FAIL, f"dtype {encoded.dtype}, expected {dtype}")
    if encoded.shape != shape:
        return Outcome(Status.FAIL, f"shape {encoded.shape}, expected {shape}")
    try:
        vectors = decode_vectors(Vectors.model_validate(dict(encoded)))
    except ValueError as error:
        return Outcome(Status.ERROR, str(error))
    difference = compare_vectors(golden.vectors, vectors, tolerance, golden.slack)
    status, message = (Status.FAIL, difference.message) if difference else (Status.PASS, "")
    if not np.isfinite(vectors).all():
        return Outcome(status, message)
    largest = largest_difference(golden.vectors, vectors, golden.slack)
    return Outcome(status, message, largest, vectors)
