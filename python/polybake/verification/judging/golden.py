"""The golden answers of a fixture, decoded and checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polybake.base.modelfile.fixture import (
    Case,
    Device,
    Fixture,
    Vectors,
    decode_slack,
    decode_vectors,
)
from polybake.base.modelfile.manifest import Output
from polybake.base.modelfile.tolerance import Embeddings, Slack, Tolerance
from polybake.errors import InputError
from polybake.verification.verdict import SESSION


@dataclass(frozen=True)
class GoldenCase:
    """A case with its vectors ``[texts, dimension]``, and the slack that integers have.

    Attributes:
        output: The name of the output that the vectors are of.
        further: The same case with the vectors of the model's further outputs.
    """

    case: Case
    vectors: Embeddings
    slack: Slack | None
    output: str = ""
    further: tuple["GoldenCase", ...] = ()

    @property
    def outputs(self) -> tuple["GoldenCase", ...]:
        """The case for each output."""
        return (self, *self.further)


@dataclass(frozen=True)
class Golden:
    """The golden cases that the clients' answers are compared with."""

    cases: tuple[GoldenCase, ...]
    tolerances: dict[Device, Tolerance]
    #: Whether a text has several vectors.
    counted: bool = False

    def self_check_limit(self, device: Device) -> float:
        """Return the largest difference that any row of these cases may have on the device."""
        slacks = [case.slack for case in self.cases if case.slack is not None]
        if slacks:
            return max(1.0, *map(float, (slack.largest for slack in slacks)))
        vectors = [output.vectors for case in self.cases for output in case.outputs]
        norms = [np.linalg.norm(array, axis=1).max(initial=0.0) for array in vectors]
        return self.tolerances[device].max_abs * max(1.0, *map(float, norms))


def decode_fixture(
    fixture: Fixture, devices: Sequence[Device], output: Output, further: Sequence[Output] = ()
) -> Golden:
    """Decode the fixture's vectors."""
    if not fixture.cases:
        raise InputError("fixture: has no cases; write one with: polybake fixtures")
    for device in devices:
        if device not in fixture.tolerances:
            raise InputError(
                f"fixture: has no tolerance for {device}; "
                f"choose devices among: {', '.join(fixture.tolerances)}"
            )
    ids = [SESSION, *(case.id for case in fixture.cases)]
    for case_id in ids:
        if ids.count(case_id) > 1:
            raise InputError(f"fixture: case {case_id}: the id is taken; give each case its own")
    return Golden(
        cases=tuple(_decode(case, (output, *further)) for case in fixture.cases),
        tolerances={device: fixture.tolerances[device] for device in devices},
        counted=any(item.counts is not None for item in (output, *further)),
    )


def _decode(case: Case, outputs: Sequence[Output]) -> GoldenCase:
    expected, names = [output.name for output in outputs[1:]], [*(case.further or ())]
    if names != expected:
        raise InputError(
            f"fixture: case {case.id}: has the further outputs {', '.join(names) or 'none'}, and "
            f"the model gives {', '.join(expected) or 'none'}; write the fixture again"
        )
    pairs = zip(case.vectors, outputs, strict=True)
    first, *further = (_decode_output(case, *pair) for pair in pairs)
    return replace(first, further=tuple(further))


def _decode_output(case: Case, encoded: Vectors, output: Output) -> GoldenCase:
    try:
        vectors, slack = decode_vectors(encoded), decode_slack(encoded)
    except ValueError as error:
        raise InputError(f"fixture: case {case.id}: {error}; write the fixture again") from error
    # If texts have several vectors, the answer decides how many.
    counted = len(case.texts) if output.counts is not None else len(vectors)
    if not len(case.texts) == len(case.input_ids) == counted:
        raise InputError(
            f"fixture: case {case.id}: {len(case.texts)} texts, {len(case.input_ids)} rows of ids "
            f"and {len(vectors)} vectors; expected as many of each"
        )
    if not np.isfinite(vectors).all():
        raise InputError(f"fixture: case {case.id}: a vector is not finite; bake the model again")
    if (
        vectors.dtype.name != output.dtype
        or bool(slack and slack.packed_bits) != output.packed_bits
    ):
        raise InputError(
            f"fixture: case {case.id}: {vectors.dtype} vectors, and the model gives "
            f"{output.readable}; write them with: polybake fixtures"
        )
    return GoldenCase(case, vectors, slack, output.name)
