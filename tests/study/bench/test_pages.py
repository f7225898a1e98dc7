"""Tables and the plot: all figures, and no name that is markup or steers a terminal."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.console import Console

from polybake.base.files.printable import printable
from polybake.study.bench.figures import Figures
from polybake.study.bench.plot import write_plot
from polybake.study.bench.table import cells, file_cells, print_figures
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
    assert cells(many.rows[1])[-1] == "unknown"  # of a single round
    assert cells(single.rows[0])[2:5] == ("2.50 ms", "3.70 ms", "3.97 ms")
    assert file_cells(figures.models[1])[1:4] == ("int8", "24.3", "0.99800")
    text = printed(figures)
    assert text.count("where the time goes") == 2


def test_a_client_that_failed_says_why() -> None:
    """Its row has no figure, and one line has the reason."""
    figures = sample_figures(message="row 3 \x1b[2J")
    text = printed(figures)
    assert "FAIL exact in node: fail: row 3 \\x1b[2J" in text
    assert "\x1b" not in text


def test_names_of_any_length_stay_inside() -> None:
    """Long names are folded, and no name steers the terminal."""
    text = printed(sample_figures(first="x" * 200, second=HOSTILE))
    assert max(map(len, text.splitlines()[:20])) <= 80
    assert text.count("x") >= 200
    assert "\u202e" not in text


def test_a_gpu_has_no_profile() -> None:
    """Where the time goes is left out; all else is there."""
    assert "where the time goes" not in printed(without_profile(sample_figures()))


def words(path: Path, figures: Figures) -> list[str]:
    """The texts of the plot, which is whole XML without any link or script."""
    pytest.importorskip("matplotlib", reason='pip install ".[plots]"')
    write_plot(path, figures)
    root = ET.fromstring(path.read_bytes())  # noqa: S314 - of our own making
    assert not any(one.tag.endswith(("}script", "}image", "}a")) for one in root.iter())
    return [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_plot_has_all_figures(tmp_path: Path) -> None:
    """It has a panel for each workload, the precision, the batches and the profile, where known."""
    figures = sample_figures(message="row 3")
    found = words(tmp_path / "a.svg", figures)
    titles = [one.title for one in figures.workloads]
    assert {*titles, *(f"where the time goes: {one}" for one in titles)} <= {*found}
    assert {"333 texts/s  (1.00 x)", "fail", "cosine", "tokens of a batch"} <= {*found}
    assert "matrix products" in found
    assert "matrix products" not in words(tmp_path / "b.svg", without_profile(figures))


@pytest.mark.weekly
def test_equal_figures_have_equal_plots(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "a.pdf", "b.PDF", "a.png"):
        words(tmp_path / "text.svg", sample_figures())
        write_plot(tmp_path / name, sample_figures())
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.PDF").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", [HOSTILE, "</text><script>alert(1)</script>", "$\\frac{1}$ $x"])
def test_hostile_names_are_text_of_the_plot(
    name: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """A file's name makes no element and no formula, and no library warns of its letters."""
    found = words(tmp_path / "a.svg", sample_figures(name, f"{name}2", message=name))
    assert any(one.startswith(printable(name)[:6]) for one in found)
    assert "\u202e" not in "".join(found)
    assert len(recwarn) == 0
