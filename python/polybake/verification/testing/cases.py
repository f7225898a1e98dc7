"""The golden cases of a model file, for the tests of a service that wraps a client."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polybake.base.modelfile.compare import compare_ids, compare_vectors
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import DEVICES, Device, Tolerance
from polybake.base.modelfile.fixture_folder import read_fixture
from polybake.errors import InputError
from polybake.verification.judging.golden import Golden, GoldenCase, decode_fixture
from polybake.verification.testing.cause import likely_cause
from polybake.verification.testing.found import found_vectors
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
            found = found_vectors(vectors, golden.vectors, several=self.several)
        except ValueError as error:
            raise AssertionError(self._failed(Stage.EMBED, str(error))) from None
        difference = compare_vectors(golden.vectors, found, self.tolerance, golden.slack)
        if difference:
            cause = likely_cause(found, golden, difference, self.fixture)
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
