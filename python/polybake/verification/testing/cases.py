"""The golden cases of a model file, for the tests of a service that wraps a client."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import DEVICES, Device
from polybake.base.modelfile.fixture_folder import read_fixture
from polybake.base.modelfile.tolerance import (
    Difference,
    Embeddings,
    Tolerance,
    compare_ids,
    compare_vectors,
)
from polybake.errors import InputError
from polybake.verification.judging.golden import Golden, GoldenCase, decode_fixture
from polybake.verification.verdict import Stage


@dataclass(frozen=True, eq=False)
class ServiceCase:
    """A call of a service, and the answers that it must give; ``str`` gives its name.

    Attributes:
        golden: The case with its vectors.
        tolerance: How far each element may lie from the golden one.
        fixture: All cases, which help to explain a wrong answer.
        several: Whether a text has several vectors.
    """

    golden: GoldenCase
    tolerance: Tolerance
    fixture: Golden
    several: bool

    def __str__(self) -> str:
        return self.golden.case.id

    @property
    def why(self) -> str:
        """The fault that this case finds."""
        return self.golden.case.why

    @property
    def texts(self) -> list[Any]:
        """The texts for the service: strings, or pairs of strings if the model takes pairs."""
        return list(self.golden.case.texts)

    @property
    def prompt(self) -> str | None:
        """The name of a prompt; None means the model's default."""
        return self.golden.case.prompt

    def check(self, vectors: Iterable[Any]) -> None:
        """Compare a service's vectors with the golden ones, like verify.

        Args:
            vectors: A vector for each text, in order: an array ``[texts, dimension]``, or lists of
                numbers. If a text has several vectors, ``[vectors, dimension]`` for each text.

        Raises:
            AssertionError: They differ, or have another number, shape or type; the message says
                where, and for a difference also a likely cause.
        """
        __tracebackhide__ = True
        golden = self.golden
        try:
            array = found_vectors(vectors, golden.vectors, several=self.several)
        except ValueError as error:
            raise AssertionError(self._failed(Stage.EMBED, str(error))) from None
        difference = compare_vectors(golden.vectors, array, self.tolerance, golden.slack)
        if difference:
            cause = likely_cause(array, golden, difference, self.fixture)
            raise AssertionError(self._failed(Stage.EMBED, f"{difference.message}; {cause}"))

    def check_ids(self, rows: Sequence[Sequence[int]]) -> None:
        """Compare a service's token ids with the golden ones, which must be equal.

        Args:
            rows: The ids of each text, in order.

        Raises:
            AssertionError: They differ; the message has row, position and both ids.
        """
        __tracebackhide__ = True
        difference = compare_ids(self.golden.case.input_ids, rows)
        if difference:
            raise AssertionError(self._failed(Stage.TOKENIZE, difference.message))

    def _failed(self, stage: Stage, message: str) -> str:
        return f"case {self}, stage {stage}: {message}"


def golden_cases(
    model: str | os.PathLike[str],
    *,
    fixture: str | os.PathLike[str] | None = None,
    device: Device = "cpu",
) -> list[ServiceCase]:
    """Return the golden cases of a model file, for tests of your own service.

    Example: ``@pytest.mark.parametrize("case", golden_cases("minilm.onnx"), ids=str)``

    Args:
        model: A baked model file.
        fixture: A folder with cases.json; None takes the golden cases in the file.
        device: The service's device, which decides how far a vector may lie away.

    Raises:
        InputError: The model, the fixture or the device is not what was expected.
    """
    if device not in DEVICES:
        raise InputError(f"device {device!r}: choose among: {', '.join(DEVICES)}")
    head = read_head(Path(model))
    cases = head.fixture if fixture is None else read_fixture(Path(fixture))
    output, *further = head.manifest.contract.outputs
    if further:
        raise InputError(
            f"{model}: gives a text {1 + len(further)} outputs, and a service is compared by one; "
            "verify its client instead: polybake verify"
        )
    golden = decode_fixture(cases, [device], output)
    several = output.counts is not None
    return [ServiceCase(case, golden.tolerances[device], golden, several) for case in golden.cases]


def found_vectors(vectors: Iterable[Any], golden: Embeddings, *, several: bool) -> Embeddings:
    """Return the vectors of all texts as an array of the golden shape, ``[texts, dimension]``.

    Floats become float64, as JSON and lists have no float32. If ``several``, each text has
    vectors ``[vectors, dimension]``.
    """
    if not isinstance(vectors, Iterable):
        raise ValueError(f"got {type(vectors).__name__}, expected vectors, one for each text")
    try:
        rows = [np.asarray(vector) for vector in vectors]
    except ValueError as error:  # rows of a text that are not equally long
        raise ValueError(f"the vectors of a text are no array ({error})") from error
    if several:
        rows = [row for block in rows for row in np.atleast_1d(block)]
    if len(rows) != len(golden):
        raise ValueError(f"{len(rows)} vectors, expected {len(golden)}")
    expected = golden.shape[1:]
    for number, row in enumerate(rows):
        if row.shape != expected:
            raise ValueError(f"row {number}: shape {[*row.shape]}, expected {[*expected]}")
        if row.dtype.kind not in "iuf":
            raise ValueError(f"row {number}: elements are {row.dtype}, expected numbers")
    array = np.array(rows, np.float64).reshape(golden.shape)
    return _integers(array, golden) if golden.dtype.kind in "iu" else array


def _integers(array: Embeddings, golden: Embeddings) -> Embeddings:
    limits = np.iinfo(golden.dtype.name)
    inside = (array >= limits.min) & (array <= limits.max) & (array == np.floor(array))
    if not inside.all():
        row, element = map(int, np.argwhere(~inside)[0])
        raise ValueError(
            f"row {row}, element {element}: {array[row, element]:g}, expected a whole number "
            f"from {limits.min} to {limits.max}, as the model gives {golden.dtype}"
        )
    return array.astype(golden.dtype)


#: Vectors this near to each other have the same direction; other texts lie much farther.
_SAME = 1e-5

#: The part of a length that rounding may change; without normalization lengths differ by more.
_ROUNDED = 1e-2


def likely_cause(
    found: Embeddings, golden: GoldenCase, difference: Difference, fixture: Golden
) -> str:
    """Return the likeliest cause of a difference of vectors ``[texts, dimension]``, in words.

    Among all cases of the fixture the same text may have another prompt.
    """
    row = difference.row or 0
    vector = found[row].astype(np.float64)
    if not np.isfinite(vector).all():
        return "look at the graph's output, before anything is made of it"
    if golden.slack is None and _alike(vector, golden.vectors[row]):
        length, expected = (float(np.linalg.norm(each)) for each in (vector, golden.vectors[row]))
        if abs(length - expected) < _ROUNDED * expected:
            return "it is nearly right: is it rounded, or made in a lower precision?"
        return (
            f"the direction is right, but the vector is {length:.3g} long, expected "
            f"{expected:.3g}: is it normalized as the model file does?"
        )
    for number, other in enumerate(golden.vectors):
        if _alike(vector, other):
            return f"it is the vector of row {number}: are the rows in the order of the texts?"
    if len(golden.vectors) == len(golden.case.texts):
        for case in fixture.cases:
            for text, other in zip(case.case.texts, case.vectors, strict=False):
                if text == golden.case.texts[row] and _alike(vector, other):
                    return (
                        f"it is the vector with prompt {case.case.prompt!r}, "
                        f"expected that with {golden.case.prompt!r}: is the prompt passed on?"
                    )
    return (
        "compare token ids first (check_ids): where they are equal, it is the graph or what follows"
    )


def _alike(vector: Embeddings, other: Embeddings) -> bool:
    wide = other.astype(np.float64)
    lengths = np.linalg.norm(vector) * np.linalg.norm(wide)
    return bool(lengths > 0 and 1 - vector @ wide / lengths < _SAME)
