"""What a long run shows."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

from polybake.base.texts.progress import tracked


def shown(total: int | None, *, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=80)
    with tracked("embedding texts", total, console) as advance:
        for _ in range(10):
            advance(7)
    return stream.getvalue()


def test_plain_lines_where_there_is_no_terminal() -> None:
    """Each tenth of the work is one line, without control characters."""
    lines = shown(70, terminal=False).splitlines()
    assert lines == [f"embedding texts: {7 * done} of 70" for done in range(1, 11)]


def test_a_stream_shows_what_is_done() -> None:
    """A stream has no known end, so a line comes whenever the work done has doubled."""
    lines = shown(None, terminal=False).splitlines()
    assert lines == [f"embedding texts: {7 * n}" for n in (1, 2, 4, 8)]
    assert "embedding texts: 70" in shown(None, terminal=True)
    assert "100%" in shown(70, terminal=True)


def test_threads_may_tell_it() -> None:
    """No batch is lost, and no line is told twice."""
    stream = io.StringIO()
    with (
        tracked("embedding texts", 2000, Console(file=stream)) as advance,
        ThreadPoolExecutor(8) as pool,
    ):
        list(pool.map(advance, [1] * 2000))
    lines = stream.getvalue().splitlines()
    assert lines == [f"embedding texts: {200 * n} of 2000" for n in range(1, 11)]
