"""The largest differences of earlier runs, kept with their limits in a small file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polybake.base.files.validation import first_fault
from polybake.errors import InputError
from polybake.verification.judging.distribution import FLOOR, Distribution, times_grown
from polybake.verification.report import ClientRun, Report
from polybake.verification.verdict import Stage

#: A difference that grew by this factor is reported.
TENFOLD = 10

#: The most differences of a client and stage that are kept.
_HISTORY = 10


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Seen(_Part):
    """The largest difference with these versions."""

    largest: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    versions: Mapping[str, str] = Field(
        description="Of the language, the runtime and the tokenizer, and the model's fingerprint."
    )


class Trend(_Part):
    """The differences of a client in a stage, the latest last."""

    model: str
    language: str
    device: str
    stage: Stage
    limit: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    seen: Annotated[tuple[Seen, ...], Field(min_length=1)]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key of a trend: model, language, device and stage."""
        return self.model, self.language, self.device, self.stage


class TrendFile(_Part):
    """The file of ``--record``."""

    format: Literal[1] = 1
    trends: tuple[Trend, ...] = ()


def read_trends(path: Path) -> TrendFile:
    """Read the file, or return an empty one if it does not exist.

    Raises:
        InputError: The file cannot be read, or is not what ``--record`` writes.
    """
    try:
        return TrendFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return TrendFile()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); choose another") from error
    except ValidationError as error:
        raise InputError(
            f"{path}: is no record of verify: {first_fault(error)}; mend or remove it, or choose "
            "another file"
        ) from error


def recorded(file: TrendFile, report: Report) -> tuple[TrendFile, tuple[str, ...]]:
    """Add a report's differences, without those of failed stages.

    Returns:
        The file, equal if the report shows nothing new, and a warning for each difference that
        has grown tenfold.
    """
    trends = {trend.key: trend for trend in file.trends}
    warnings = []
    for run, one, limit in _measured(report):
        versions = _versions(run, report)
        now = Seen(largest=one.largest, versions=versions)
        fields = (report.model, run.language, run.device, one.stage)
        known = trends.get(fields)
        seen = known.seen if known else ()
        warning = _warning(seen, now, limit)
        if warning:
            warnings.append(f"{run.language} on {run.device}, {one.stage}: {warning}")
        if seen and seen[-1].versions == versions:
            now = max(now, seen[-1], key=lambda each: each.largest)
            seen = seen[:-1]
        trends[fields] = Trend(
            model=report.model,
            language=run.language,
            device=run.device,
            stage=one.stage,
            limit=limit,
            seen=(*seen, now)[-_HISTORY:],
        )
    return TrendFile(trends=tuple(trends[key] for key in sorted(trends))), tuple(warnings)


def trends_json(file: TrendFile) -> str:
    """Return the file's text, indented so that its diffs are readable."""
    return json.dumps(file.model_dump(mode="json"), ensure_ascii=True, indent=1) + "\n"


def _measured(report: Report) -> Iterator[tuple[ClientRun, Distribution, float]]:
    for run in report.runs:
        failed = {v.stage for v in report.verdicts_of(run) if v.status.failed}
        for one in run.distributions:
            if one.limit is not None and one.stage not in failed:
                yield run, one, one.limit


def _versions(run: ClientRun, report: Report) -> dict[str, str]:
    versions = run.versions.model_dump(exclude={"language"}) if run.versions else {}
    named = {key.removesuffix("_version"): version for key, version in versions.items()}
    return {**named, "model": report.fingerprint[:12]}


def _warning(seen: tuple[Seen, ...], now: Seen, limit: float) -> str:
    """Compare with the smallest difference, as small steps add up; warn only if the last grew."""
    if not seen or now.largest <= seen[-1].largest:
        return ""
    least = min(seen, key=lambda each: each.largest)
    times = times_grown(least.largest, now.largest, limit)
    if times < TENFOLD:
        return ""
    before = seen[-1].versions
    came = ", ".join(
        f"{what} {version} (before {before.get(what, 'unknown')})"
        for what, version in now.versions.items()
        if version != before.get(what)
    )
    floor = f", as what is below {FLOOR:.0%} of the limit counts as that"
    cause = f"it came with {came}" if came else "no version changed, so look at the machine"
    return (
        f"{now.largest:.2g} of {limit:.0e}, {times:.0f} times the {least.largest:.2g} of runtime "
        f"{least.versions.get('runtime', 'unknown')}"
        f"{floor if least.largest < FLOOR * limit else ''}; {cause}"
    )
