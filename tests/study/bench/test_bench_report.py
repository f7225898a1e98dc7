"""The page: one file that asks for no other."""

from __future__ import annotations

import re

from polybake.study.bench.bench_report import report
from support.clients.hostile import HOSTILE
from support.samples.sample_figures import sample_figures, without_profile


def headings(page: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", page)


def test_has_every_chart() -> None:
    """The page has a chart for each workload, the files, the batches and the parts."""
    page = report(sample_figures())
    assert headings(page) == [
        "1,000 texts",
        "One text",
        "Files",
        "Precision and size",
        "Tokens of a batch",
        "Where the time goes",
    ]
    assert page.count("<svg") == page.count("</svg>") == 6
    assert "333 texts/s  (1.00 x)" in page
    assert "exact in node" in page
    assert "prefers-color-scheme: dark" in page


def test_one_model_has_nothing_to_compare() -> None:
    """A single model has no chart of precision and size."""
    assert "Precision and size" not in headings(report(sample_figures(second=None)))


def test_a_gpu_has_no_profile() -> None:
    """Where the time goes is left out."""
    found = headings(report(without_profile(sample_figures())))
    assert "Where the time goes" not in found
    assert "Tokens of a batch" in found


def test_a_client_that_failed_is_told() -> None:
    """The failure stands above the charts."""
    page = report(sample_figures(message="row 3, element 0: difference 2"))
    assert '<p class="fail">FAIL exact in node: fail: row 3, element 0: difference 2' in page


def test_asks_for_no_other_file() -> None:
    """There is no script, link, image or import."""
    page = report(sample_figures()).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:", page)


def test_hostile_names_are_text() -> None:
    """A file's name makes no element."""
    tags = re.compile(r"<(\w+)")
    plain = {*tags.findall(report(sample_figures()))}
    for name in (HOSTILE, "</td><script>alert(1)</script><b>"):
        page = report(sample_figures(name, f"{name}2", message=name))
        assert {*tags.findall(page)} == plain
        assert "\u202e" not in page
