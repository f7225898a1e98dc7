"""Show how far a long run is: a bar on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

#: The most plain lines of a run, and the least seconds between two of them.
_LINES, _SECONDS = 10, 5.0


def bar_on(console: Console, *, transient: bool = False) -> Progress:
    """A bar with the time that is left; nothing where there is no terminal.

    It is blue, as rich's own is red, which says that something failed.
    """
    return Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(complete_style="blue", pulse_style="blue"),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=transient,
        disable=not console.is_terminal,
    )


@contextmanager
def tracked(what: str, total: int | None, console: Console) -> Iterator[Callable[[int], None]]:
    """Give a function to call, from any thread, with the number of elements of each done batch."""
    lock, done, shown, report_time = Lock(), 0, 0, monotonic()
    progress = bar_on(console) if console.is_terminal else None
    task = progress.add_task(what, total=total) if progress else None

    def tell() -> None:
        nonlocal shown, report_time
        console.print(f"{what}: {done}{'' if total is None else f' of {total}'}")
        shown, report_time = done, monotonic()

    def advance(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            if progress is not None and task is not None:
                described = what if total is not None else f"{what}: {done}"
                progress.update(task, completed=done, description=described)
                return
            if total is None:
                reached = done >= 2 * shown
            else:
                reached = shown * _LINES // total < done * _LINES // total
            if reached and monotonic() - report_time >= _SECONDS:
                tell()

    if progress is None:
        yield advance
        if shown < done:
            tell()
    else:
        with progress:
            yield advance
