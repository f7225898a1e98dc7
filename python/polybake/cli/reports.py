"""The files that ``polybake verify`` reads before it runs, and writes afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from polybake.base.files.atomic import replacing
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.verification.report import Report
from polybake.verification.reporting.baseline import Baseline, changes, read_baseline
from polybake.verification.reporting.report_html import report_html
from polybake.verification.reporting.report_junit import report_junit
from polybake.verification.reporting.report_markdown import report_markdown
from polybake.verification.reporting.trend import TrendFile, read_trends, recorded, trends_json


@dataclass
class Reports:
    """The files of a run."""

    junit: Path | None
    html: Path | None
    markdown: Path | None
    record: Path | None
    _baseline: Baseline | None
    _trends: TrendFile
    _now: TrendFile

    @classmethod
    def before(
        cls,
        model: Path,
        junit: Path | None,
        html: Path | None,
        markdown: Path | None,
        baseline: Path | None,
        record: Path | None,
    ) -> Self:
        """Read the files to compare with before the run, so that a wrong file costs no run.

        Raises:
            InputError: The baseline or the record is invalid, or two files are the same.
        """
        named = {"--junit": junit, "--html": html, "--markdown": markdown, "--record": record}
        taken = {model.resolve(): "the model"}
        if baseline:
            taken[baseline.resolve()] = "--baseline"
        for option, path in named.items():
            if path and (other := taken.setdefault(path.resolve(), option)) != option:
                raise InputError(f"{option} {path}: is the file of {other}; choose another")
        earlier = read_baseline(baseline, read_head(model).manifest.name) if baseline else None
        trends = read_trends(record) if record else TrendFile()
        return cls(junit, html, markdown, record, earlier, trends, trends)

    def compared(self, report: Report) -> Report:
        """Return the report with the changes since the baseline, and with grown differences."""
        if self._baseline:
            report = replace(report, changes=changes(self._baseline, report))
        if self.record:
            self._now, warnings = recorded(self._trends, report)
            report = replace(report, warnings=warnings)
        return report

    def write(self, report: Report) -> None:
        """Write the requested files; a record without news stays as it is."""
        if self.junit:
            _write(self.junit, report_junit(report))
        if self.html:
            _write(self.html, report_html(report).encode())
        if self.markdown:
            _write(self.markdown, report_markdown(report).encode())
        if self.record and self._now != self._trends:
            _write(self.record, trends_json(self._now).encode())


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
