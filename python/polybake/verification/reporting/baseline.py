"""The changes since an earlier report, whose format may be newer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from polybake.base.files.validation import first_fault
from polybake.errors import InputError
from polybake.verification.harness.protocol import ClientVersions
from polybake.verification.judging.distribution import times_grown
from polybake.verification.report import Changes, Report
from polybake.verification.reporting.trend import TENFOLD
from polybake.verification.verdict import Stage, Status

Place = tuple[str, str, str, Stage]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Distribution(_Part):
    stage: Stage
    largest: float


class _Run(_Part):
    language: str
    device: str
    versions: ClientVersions | None
    distributions: tuple[_Distribution, ...] = ()


class _Verdict(_Part):
    language: str
    device: str
    case: str
    stage: Stage
    status: Status

    @property
    def place(self) -> Place:
        return self.language, self.device, self.case, self.stage


class Baseline(_Part):
    """The parts of the output of ``polybake verify --json`` that are compared."""

    format: Literal[1]
    model: str
    fingerprint: str
    runs: tuple[_Run, ...]
    verdicts: tuple[_Verdict, ...]


def read_baseline(path: Path, model: str) -> Baseline:
    """Read an earlier report on a model.

    Raises:
        InputError: The file cannot be read, is not a report, or reports on another model.
    """
    remedy = "write one with: polybake verify --json"
    try:
        # Not parsed by pydantic, which refuses lone surrogates, as a client's message may hold.
        baseline = Baseline.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {remedy}") from error
    except (ValueError, RecursionError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else "it is not JSON"
        raise InputError(f"{path}: is no report of verify: {fault}; {remedy}") from error
    if baseline.model != model:
        raise InputError(
            f"{path}: is a report on {baseline.model!r}, expected one on {model!r}; "
            "give one on the same model"
        )
    return baseline


def changes(baseline: Baseline, report: Report) -> Changes:
    """Compare a report with an earlier one; what only one of the two ran is no change."""
    before = {verdict.place: verdict.status for verdict in baseline.verdicts}
    failing: dict[tuple[str, str, str, str], list[str]] = {}
    mended: dict[tuple[str, str, str, str], list[str]] = {}
    for verdict in report.verdicts:
        was = before.get((verdict.language, verdict.device, verdict.case, verdict.stage))
        key = (verdict.language, verdict.device, verdict.status, was or "not asked")
        place = f"{verdict.case} {verdict.stage}"
        if verdict.status.failed and not (was and was.failed):
            failing.setdefault(key, []).append(place)
        elif verdict.status is Status.PASS and was and was.failed:
            mended.setdefault(key, []).append(place)
    return Changes(
        failing=_sentences(failing),
        mended=_sentences(mended),
        grown=tuple(_grown(baseline, report)),
        others=tuple(_others(baseline, report)),
    )


def _sentences(places: dict[tuple[str, str, str, str], list[str]]) -> tuple[str, ...]:
    return tuple(
        f"{language} on {device}, {first}{f' and {len(rest)} more' if rest else ''}: "
        f"{status}, was {was}"
        for (language, device, status, was), (first, *rest) in places.items()
    )


def _grown(baseline: Baseline, report: Report) -> Iterator[str]:
    before = {
        (run.language, run.device, one.stage): one.largest
        for run in baseline.runs
        for one in run.distributions
    }
    for run in report.runs:
        for one in run.distributions:
            was = before.get((run.language, run.device, one.stage))
            if was is None or one.limit is None:
                continue
            if times_grown(was, one.largest, one.limit) >= TENFOLD:
                yield (
                    f"{run.language} on {run.device}, {one.stage}: {one.largest:.2g} of "
                    f"{one.limit:.0e}, was {was:.2g}"
                )


def _others(baseline: Baseline, report: Report) -> Iterator[str]:
    """The model file, clients and versions."""
    if baseline.fingerprint != report.fingerprint:
        yield f"model file: {report.fingerprint[:12]}, was {baseline.fingerprint[:12]}"
    known = {(run.language, run.device): run for run in baseline.runs}
    for run in report.runs:
        was = known.pop((run.language, run.device), None)
        if was is None:
            yield f"{run.language} on {run.device}: is new"
        elif run.versions and was.versions:
            before = was.versions.model_dump()
            for key, version in run.versions.model_dump().items():
                if version != before[key]:
                    what = key.removesuffix("_version")
                    yield f"{run.language} on {run.device}: {what} {version}, was {before[key]}"
    yield from (f"{language} on {device}: was not run" for language, device in known)
