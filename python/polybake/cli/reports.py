"""The files that ``polybake verify`` writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from polybake.base.files.atomic import replacing
from polybake.errors import InputError
from polybake.verification.report import Report
from polybake.verification.reporting.report_html import report_html
from polybake.verification.reporting.report_junit import report_junit
from polybake.verification.reporting.report_markdown import report_markdown


@dataclass(frozen=True)
class Reports:
    """The files of a run, each None where nobody asked for it."""

    junit: Path | None
    html: Path | None
    markdown: Path | None

    def check(self, model: Path) -> None:
        """Refuse a wrong choice before the run, so that it costs no run."""
        owners = {model.resolve(): "the model"}
        for option, path, _ in self._asked():
            if (owner := owners.setdefault(path.resolve(), option)) != option:
                raise InputError(f"{option} {path}: is the file of {owner}; choose another")

    def write(self, report: Report) -> None:
        """Write the files that were asked for."""
        for _, path, form in self._asked():
            with replacing(path) as file:
                file.write(form(report))

    def _asked(self) -> Iterator[tuple[str, Path, Callable[[Report], bytes]]]:
        forms: list[tuple[str, Path | None, Callable[[Report], bytes]]] = [
            ("--junit", self.junit, report_junit),
            ("--html", self.html, lambda report: report_html(report).encode()),
            ("--markdown", self.markdown, lambda report: report_markdown(report).encode()),
        ]
        yield from ((option, path, form) for option, path, form in forms if path)
