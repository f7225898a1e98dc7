"""What a long run shows."""

from __future__ import annotations

import io

from rich.console import Console

from polybake.corpus.progress import tracked

BATCHES = [list(range(7)) for _ in range(10)]


def shown(*, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=80)
    assert list(tracked(iter(BATCHES), "embedding texts", 70, console)) == BATCHES
    return stream.getvalue()


def test_plain_lines_where_there_is_no_terminal() -> None:
    """Each tenth is one line, without control characters."""
    lines = shown(terminal=False).splitlines()
    assert lines == [f"embedding texts: {7 * done} of 70" for done in range(1, 11)]


def test_a_bar_on_a_terminal() -> None:
    """The bar ends full."""
    printed = shown(terminal=True)
    assert "embedding texts" in printed
    assert "100%" in printed
    assert "\x1b[" in printed


def test_a_stream_shows_what_is_done() -> None:
    """Its end is not known; a line comes when as much again is done."""
    stream = io.StringIO()
    assert list(tracked(iter(BATCHES), "embedding texts", None, Console(file=stream))) == BATCHES
    assert stream.getvalue().splitlines() == [f"embedding texts: {7 * n}" for n in (1, 2, 4, 8)]
    stream = io.StringIO()
    terminal = Console(file=stream, force_terminal=True, width=80)
    assert list(tracked(iter(BATCHES), "embedding texts", None, terminal)) == BATCHES
    assert "embedding texts: 70" in stream.getvalue()
