"""Show how far a long run is: a bar on a terminal, plain lines elsewhere."""

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

Batch = TypeVar("Batch", bound=Sized)

#: Plain lines of one run.
_LINES = 10


def tracked(
    batches: Iterable[Batch], what: str, total: int | None, console: Console
) -> Iterator[Batch]:
    """Give the batches and show the part of ``total`` elements that they have reached.

    Args:
        batches: Sized by their elements.
        what: What is done to the elements, such as ``embedding texts``.
        total: The elements of all batches together; None where only the end will tell.
        console: Where it is shown.
    """
    if console.is_terminal:
        with Progress(console=console) as progress:
            task = progress.add_task(what, total=total)
            for batch in batches:
                yield batch
                progress.advance(task, len(batch))
                if total is None:
                    done = progress.tasks[task].completed
                    progress.update(task, description=f"{what}: {done:.0f}")
        return
    done = shown = 0
    for batch in batches:
        yield batch
        done += len(batch)
        if total is None:
            reached = done >= 2 * shown
        else:
            reached = shown * _LINES // total < done * _LINES // total
        if reached:
            console.print(f"{what}: {done}{'' if total is None else f' of {total}'}")
            shown = done
