"""A matrix with something of everything, for the tests of what is printed and written."""

from __future__ import annotations

from polybake.verification.harness.protocol import ClientVersions
from polybake.verification.matrix.combination import Combination
from polybake.verification.matrix.matrix_report import Cell, MatrixReport, Row
from polybake.verification.verdict import SESSION, Stage, Status, Verdict
from support.samples.sample_report import HOSTILE


def sample_matrix(**changes) -> MatrixReport:
    """Two versions: one passes in float32 and fails in int8, the other cannot be installed."""
    old = Combination("python", runtime="1.24.3", threads=1)
    none = Combination("python", runtime="0.0.99", instructions="Haswell")
    fields = {
        "models": ("minilm", "minilm|int8"),
        "rows": (
            Row(old, versions(), (passed("minilm"), failed("minilm|int8")), 12.5),
            Row(none, None, (skipped("minilm"), skipped("minilm|int8")), 0.5),
        ),
        "machine": "A Processor (avx2), Linux",
        "missing": (),
    }
    return MatrixReport(**(fields | changes))


def versions() -> ClientVersions:
    return ClientVersions(
        language="python",
        language_version="3.11.7",
        runtime_version="1.24.3",
        tokenizer_version="0.22.2",
    )


def verdict(stage: Stage, status: Status, message: str = "", difference=None) -> Verdict:
    case = SESSION if stage is Stage.SELF_CHECK else "plain"
    return Verdict("python", "cpu", case, stage, status, message, difference)


def passed(model: str) -> Cell:
    """A cell that passes, without streams. The self-check's difference is not the cell's."""
    return Cell(
        model,
        (
            verdict(Stage.STREAM, Status.SKIP_CAPABILITY, "no part bulk"),
            verdict(Stage.TOKENIZE, Status.PASS),
            verdict(Stage.EMBED_IDS, Status.PASS, difference=1.2e-7),
            verdict(Stage.EMBED, Status.PASS, difference=3.4e-7),
            verdict(Stage.SELF_CHECK, Status.PASS, difference=9e-7),
        ),
    )


def failed(model: str) -> Cell:
    return Cell(
        model,
        (
            verdict(Stage.TOKENIZE, Status.PASS),
            verdict(Stage.CALL, Status.SKIP_CAPABILITY, "cannot"),
            verdict(Stage.EMBED, Status.FAIL, HOSTILE, 3e-2),
        ),
    )


def skipped(model: str) -> Cell:
    return Cell(model, (verdict(Stage.EMBED, Status.MISSING_TOOLCHAIN, "no such version"),))
