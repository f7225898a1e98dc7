"""The page: one file that asks for no other, in which nothing from outside is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from polybake.verification.report import Changes
from polybake.verification.reporting.report_html import report_html
from support.clients.hostile import HOSTILE
from support.samples.sample_report import sample_report


class Page(HTMLParser):
    """Tags with the names of their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[tuple[str, ...]] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add((tag, *(name for name, _ in attrs)))
        if tag not in {"meta", "br", "rect", "line"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"rect", "line"}:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_verdict_comes_first() -> None:
    """Clients, failures, histograms and worst cases follow in this order."""
    page = report_html(sample_report())
    assert re.findall(r"<h[12]>(.*?)</h[12]>", page) == [
        "1 of 3 clients fail",
        "Clients",
        "What did not pass",
        "Differences from the golden vectors",
        "Worst cases",
    ]


def test_a_page_of_passes_has_no_list_of_failures() -> None:
    """Skips are in the table; warnings and changes are told where there are any."""
    verdicts = tuple(one for one in sample_report().verdicts if one.language == "ruby")
    page = report_html(
        sample_report(verdicts=verdicts, warnings=("grew",), changes=Changes(mended=("one",)))
    )
    assert "What did not pass" not in page
    assert "<b>Grew within the limit</b> grew" in page
    assert "<b>mended</b> one" in page


def test_equal_vectors_have_no_worst_case() -> None:
    """The heading of worst cases is left out if there are none."""
    runs = tuple(run for run in sample_report().runs if not run.worst)
    page = report_html(sample_report(runs=runs))
    assert "Differences from the golden vectors" in page
    assert "Worst cases" not in page


def test_nothing_measured_is_no_obstacle() -> None:
    """A report in which no client started has no axis."""
    assert "<svg" in report_html(sample_report())
    page = report_html(sample_report(runs=(), verdicts=()))
    assert "Nothing was verified" in page
    assert "<svg" not in page


def test_tokens_and_values_stand_side_by_side() -> None:
    """The row that differs most shows expected and found tokens and values."""
    text = re.sub(r"\s+", " ", Page(report_html(sample_report())).text)
    assert "long, row 3, prompt query" in text
    for shown in ("expected0.5 ", "client's0.50006 ", "difference6e-05 ", "limit2e-05 ", "a 7a 7"):
        assert shown in text
    assert "(the empty text)" in text


def test_asks_for_no_other_file() -> None:
    """There is no script, link, image or import."""
    page = report_html(sample_report())
    assert not re.search(r"<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:", page)


def test_every_element_is_closed() -> None:
    """The HTML is well formed, whichever part of a report is missing."""
    for report in (sample_report(), sample_report(runs=()), sample_report(verdicts=())):
        assert Page(report_html(report)).open == []


def test_what_comes_from_outside_is_text() -> None:
    """Names, messages, texts and tokens make no element and no attribute."""
    plain = Page(report_html(sample_report(missing=("a",), warnings=("b",))))
    for text in (HOSTILE, "</td><script>alert(1)</script>", "\" onload='x' <img src=x>"):
        found = Page(report_html(sample_report(model=text, missing=(text,), warnings=(text,))))
        assert found.tags == plain.tags
        assert "\u202e" not in found.text
        assert "\x1b" not in found.text
