"""The tables of a comparison, and the part of the README that they fill."""

from __future__ import annotations

import pytest
import tables

from support.comparison import FOUND

README = "before\n<!-- peers: begin -->\nold\n<!-- peers: end -->\nafter\n"


def test_what_is_between_the_marks_is_written_anew() -> None:
    """The rest of the README stays, and a second writing changes nothing."""
    readme = tables.written(README, FOUND, "bench/results/peers.svg")
    assert readme.startswith("before\n<!-- peers: begin -->\nHow fast, with the same texts")
    assert "([all particulars](bench/results/peers.md)):\n\n![" in readme
    assert "](bench/results/peers.svg)\n\n|  |  | 1,000 short texts |" in readme
    assert (
        "| **polybake** | Python | 500/s (1.00 ×) | 100/s (1.00 ×) | 2000.0 ms (1.00 ×) |" in readme
    )
    assert "| other | Python | 1000/s (2.00 ×) |" in readme
    assert "old" not in readme
    assert readme.endswith("2026-01-02; median of 3 rounds in turns.\n<!-- peers: end -->\nafter\n")
    assert tables.written(readme, FOUND, "bench/results/peers.svg") == readme


def test_a_readme_without_marks_is_no_place_for_the_table() -> None:
    """Nothing is appended by guess."""
    with pytest.raises(ValueError, match="unpack"):
        tables.written("# Title\n", FOUND, "peers.svg")


def test_page_says_why_a_row_is_left_out() -> None:
    """A refused peer has no times, but is named; a cosine is rounded down."""
    page = tables.page(FOUND)
    assert "\nrefused (Python): refused: cosine 0.70000.\n" in page
    assert "(1.00 ×, ± 125%) | 1 | 2,048 MiB |" in page
    assert "(2.00 ×, ± 0%) | 0.976 |" in page
    assert "| **polybake** | Python | onnxruntime 1.31.1 |" in page


@pytest.mark.parametrize(("others", "provisional"), [(0.04, False), (0.4, True)])
def test_times_of_a_busy_machine_are_provisional(others: float, provisional: bool) -> None:
    """Where other programs took a share of the processors, the tables say so."""
    found = FOUND | {"others": others}
    assert ("Provisional" in tables.page(found)) == provisional
    assert ("Provisional" in tables.written(README, found, "peers.svg")) == provisional
