"""The tables for a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from polybake.study.bench.figures import Figures
from polybake.study.bench.table import cells, file_cells, milliseconds, print_figures
from support.clients.hostile import HOSTILE
from support.samples.sample_figures import sample_figures, without_profile


def printed(figures: Figures, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_figures(figures, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_row_for_each_figure() -> None:
    """The tables show speed, latency, files, batches and parts."""
    figures = sample_figures()
    many, single = figures.workloads
    assert cells(many.rows[0]) == ("exact", "1", "333", "11,333", "1.00 x", "67%")
    assert cells(many.rows[1])[:3] == ("exact in node", "default", "167")
    assert cells(many.rows[1])[-1] == "unknown"  # of a single round
    assert cells(single.rows[0])[2:5] == ("2.50 ms", "3.70 ms", "3.97 ms")
    assert file_cells(figures.models[0])[1:4] == ("float32", "90.9", "exact")
    assert file_cells(figures.models[1])[1:4] == ("int8", "24.3", "0.99800")
    text = printed(figures)
    assert text.count("where the time goes") == 2
    assert "\nsmall " in text
    assert "A processor, 2 processors; onnxruntime 1.31.1, polybake 0.1.0" in text
    assert "3 rounds in turns" in text
    assert "JSON and base64" in text


def test_one_model_without_clients() -> None:
    """Tables without clients do not mention any."""
    figures = sample_figures(second=None)
    (compared, _) = figures.workloads
    alone = compared.model_copy(update={"rows": compared.rows[:1]})
    text = printed(figures.model_copy(update={"workloads": (alone,)}))
    assert "JSON" not in text


def test_a_client_that_failed_says_why() -> None:
    """Its row has no figure, and one line has the reason."""
    text = printed(sample_figures(message="row 3 \x1b[2J"))
    assert "FAIL exact in node: fail: row 3 \\x1b[2J" in text
    assert "\x1b" not in text


def test_names_of_any_length_stay_inside() -> None:
    """Long names are folded, and no name steers the terminal."""
    text = printed(sample_figures(first="x" * 200, second=HOSTILE))
    assert max(map(len, text.splitlines()[:20])) <= 80
    assert text.count("x") >= 200
    assert "\u202e" not in text


def test_three_digits() -> None:
    """Times have three significant digits at every size."""
    seconds = (0.0012345, 0.012345, 0.12345)
    assert [milliseconds(one) for one in seconds] == ["1.23 ms", "12.3 ms", "123 ms"]


def test_a_gpu_has_no_profile() -> None:
    """Where the time goes is left out; all else is there."""
    text = printed(without_profile(sample_figures()))
    assert "where the time goes" not in text
    assert "texts/s by tokens" in text
