"""The stages of a case: what is asked, and how the answer is judged."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from polybake.modelfile.compare import (
    Difference,
    compare_ids,
    compare_vectors,
    largest_difference,
)
from polybake.modelfile.fixture import Case, Tolerance
from polybake.modelfile.slack import Embeddings
from polybake.verification.golden import GoldenCase
from polybake.verification.protocol import Embed, EmbedIds, EncodedVectors, Request, Tokenize
from polybake.verification.verdict import Stage, Status

_IDS = TypeAdapter(list[list[int]])
_NUMBER: TypeAdapter[float] = TypeAdapter(Annotated[float, Field(allow_inf_nan=False)])


@dataclass(frozen=True)
class Outcome:
    """What became of one request."""

    status: Status
    message: str = ""
    difference: float | None = None
    #: ``[texts, dimension]``, where they are finite and of the golden dtype and shape.
    vectors: Embeddings | None = None


def request_for(stage: Stage, case: Case) -> Request:
    """The request of one stage of a case."""
    if stage is Stage.TOKENIZE:
        return Tokenize(texts=case.texts, prompt=case.prompt)
    if stage is Stage.EMBED_IDS:
        return EmbedIds(input_ids=case.input_ids, prompt=case.prompt)
    return Embed(texts=case.texts, prompt=case.prompt)


def judge_case(stage: Stage, golden: GoldenCase, results: object, tolerance: Tolerance) -> Outcome:
    """Judge the answer to one stage of a case."""
    if stage is Stage.TOKENIZE:
        return _judge_ids(golden, results)
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
    try:
        found = _IDS.validate_python(results, strict=True)
    except ValidationError:
        return Outcome(Status.ERROR, "results are not rows of integers")
    difference = compare_ids(golden.case.input_ids, found)
    return Outcome(Status.FAIL, difference.message) if difference else Outcome(Status.PASS)


def _judge_vectors(golden: GoldenCase, results: object, tolerance: Tolerance) -> Outcome:
    try:
        encoded = EncodedVectors.model_validate(results)
    except ValidationError:
        return Outcome(Status.ERROR, "results are not vectors: dtype, shape and data")
    if difference := _compare_shape(golden.vectors, encoded):
        return Outcome(Status.FAIL, difference.message)
    try:
        found = _decode(encoded)
    except ValueError as error:
        return Outcome(Status.ERROR, str(error))
    difference = compare_vectors(golden.vectors, found, tolerance, golden.slack)
    status, message = (Status.FAIL, difference.message) if difference else (Status.PASS, "")
    if not np.isfinite(found).all():
        return Outcome(status, message)
    largest = largest_difference(golden.vectors, found, golden.slack)
    return Outcome(status, message, largest, found)


def _compare_shape(golden: Embeddings, found: EncodedVectors) -> Difference | None:
    """Compare dtype and shape as the answer states them."""
    if found.dtype != golden.dtype.name:
        return Difference(f"dtype {found.dtype}, expected {golden.dtype.name}")
    if found.shape != list(golden.shape):
        return Difference(f"shape {found.shape}, expected {list(golden.shape)}")
    return None


def _decode(found: EncodedVectors) -> Embeddings:
    """Decode vectors of the dtype and shape that the answer states.

    Raises:
        ValueError: the data is not base64 or does not fill the shape.
    """
    try:
        raw = base64.b64decode(found.data, validate=True)
    except ValueError as error:
        raise ValueError(f"data is not base64: {error}") from error
    kind = np.dtype(found.dtype)
    expected = kind.itemsize * int(np.prod(found.shape))
    if len(raw) != expected:
        raise ValueError(f"data has {len(raw)} bytes, expected {expected} for {found.shape}")
    return np.frombuffer(raw, kind.newbyteorder("<")).reshape(found.shape).astype(kind)
