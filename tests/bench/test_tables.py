"""The page of a comparison: its picture and its tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tables

from support.samples.comparison import FOUND

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


def test_page_has_the_picture_and_a_row_for_each_tool() -> None:
    """Rates, ratios to polybake's own row, cosines and memory."""
    page = tables.page(FOUND, "peers.svg")
    assert "](peers.svg)\n\n|  |  | 1,000 short texts |" in page
    assert "Test CPU, 2 threads, all-MiniLM-L6-v2, 2026-01-02; median of 3 rounds in turns." in page
    assert "| **polybake** | Python | 500/s (1.00 ×, ± 125%) | 100/s (1.00 ×, ± 125%) |" in page
    assert "| 2000.0 ms (1.00 ×, ± 125%) | 1 | 2,048 MiB |" in page
    assert "| other | Python | 1000/s (2.00 ×, ± 0%) |" in page


def test_page_says_why_a_row_is_left_out() -> None:
    """A refused peer has no times, but is named; a cosine is rounded down."""
    page = tables.page(FOUND, "peers.svg")
    assert "\nrefused (Python): refused: cosine 0.70000.\n" in page
    assert "(2.00 ×, ± 0%) | 0.976 |" in page
    assert "| **polybake** | Python | onnxruntime 1.31.1 |" in page


@pytest.mark.parametrize(("others", "provisional"), [(0.04, False), (0.4, True)])
def test_times_of_a_busy_machine_are_provisional(others: float, provisional: bool) -> None:
    """The page says so if other programs took a share of the processors."""
    found = FOUND | {"others": others}
    assert ("Provisional" in tables.page(found, "peers.svg")) == provisional


def test_the_committed_page_is_that_of_the_committed_results() -> None:
    """Nobody edits bench/results/peers.md by hand."""
    found = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))
    page = (RESULTS / "peers.md").read_text(encoding="utf-8")
    assert page == tables.page(found, "peers.svg")
