"""A report with something of everything, for the tests of what is printed and written."""

from __future__ import annotations

from polybake.verification.harness.protocol import ClientVersions, Device, Provider
from polybake.verification.judging.evidence import Difference
from polybake.verification.judging.worst_case import TokenPair, WorstCase
from polybake.verification.language_differences import LanguageDifference
from polybake.verification.report import ClientRun, Report
from polybake.verification.verdict import CASE_STAGES, SESSION, Stage, Status, Verdict

HOSTILE = "bad \x00 \x1b[31m ]]> [bold] <b> & \" ' \ud800 \n end"


def sample_report(**changes) -> Report:
    """Ruby passes, csharp on CUDA fails one stage with a hostile message, node is skipped."""
    verdicts = (
        *_stages("ruby", "cpu", Status.PASS, difference=2.1e-7),
        *_stages("csharp", "cuda", Status.PASS, difference=1.9e-6)[:-1],
        Verdict("csharp", "cuda", "long", Stage.EMBED, Status.FAIL, HOSTILE, 3e-5, 0.5),
        *_stages("node", "cpu", Status.MISSING_TOOLCHAIN, message="not on PATH: npm"),
        Verdict("ruby", "cpu", SESSION, Stage.SELF_CHECK, Status.PASS, "", 2e-7, 0.1),
    )
    fields = {
        "model": "all-minilm-l6-v2",
        "fingerprint": "f" * 64,
        "cases": 2,
        "runs": (_run("ruby", "cpu"), _run("csharp", "cuda"), _run("node", "cpu", started=False)),
        "verdicts": verdicts,
        "language_differences": (LanguageDifference("cpu", ("csharp", "ruby"), 1.2e-7, "long", 3),),
        "notes": ("a note",),
        "missing": (),
    }
    return Report(**(fields | changes))


def _stages(language: str, device: str, status: Status, **fields) -> list[Verdict]:
    return [
        Verdict(language, device, case, stage, status, seconds=0.25, **fields)
        for case in ("plain", "long")
        for stage in CASE_STAGES
    ]


def _run(language: str, device: Device, *, started: bool = True) -> ClientRun:
    if not started:
        return ClientRun(language, device, None, None, 0.0)
    active = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}[device]
    return ClientRun(
        language,
        device,
        ClientVersions(
            language=language,
            language_version="10.0.101",
            runtime_version="1.31.1",
            tokenizer_version="0.23.3",
        ),
        Provider(requested=device, active=active, proven_by="profile"),
        123.4,
        *_evidence(language),
    )


def _evidence(language: str) -> tuple[tuple[Difference, ...], tuple[WorstCase, ...]]:
    """Ruby has small differences, csharp one of three limits in a row whose text is hostile."""
    if language != "csharp":
        return (Difference(Stage.EMBED, 1e-5, 2.1e-7, "long"),), ()
    row = WorstCase(
        case="long",
        why=HOSTILE,
        prompt="query",
        row=3,
        text=(HOSTILE, ""),
        tokens=(TokenPair("a 7", "a 7"), TokenPair(HOSTILE, None)),
        beyond=True,
        stage=Stage.EMBED,
        element=2,
        expected=0.5,
        found=0.50006,
        difference=6e-5,
        limit=2e-5,
    )
    return (Difference(Stage.EMBED, 2e-5, 6e-5, "long"),), (row,)
