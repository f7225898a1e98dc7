"""Show how far a long run is: a bar on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

#: The most plain lines of a run.
_LINES = 10


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
    """Give a function to call, from any thread, with the number of elements of each done batch.

    Args:
        what: What is done to the elements, such as ``embedding texts``.
        total: The elements of all batches; None if their number is unknown.
        console: Where progress is shown.
    """
    lock, done, shown = Lock(), 0, 0
    progress = bar_on(console) if console.is_terminal else None
    task = progress.add_task(what, total=total) if progress else None

    def advance(count: int) -> None:
        nonlocal done, shown
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
            if reached:
                console.print(f"{what}: {done}{'' if total is None else f' of {total}'}")
                shown = done

    if progress is None:
        yield advance
    else:
        with progress:
            yield advance
