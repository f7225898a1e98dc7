"""Show how far a long run is: a bar on a terminal, plain lines elsewhere."""

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

Batch = TypeVar("Batch", bound=Sized)

#: Plain lines of one run.
_LINES = 10


def tracked(batches: Iterable[Batch], what: str, total: int, console: Console) -> Iterator[Batch]:
    """Give the batches and show the part of ``total`` elements that they have reached.

    Args:
        batches: Sized by their elements.
        what: What is done to the elements, such as ``embedding texts``.
        total: The elements of all batches together.
        console: Where it is shown.
    """
    if console.is_terminal:
        with Progress(console=console) as progress:
            task = progress.add_task(what, total=total)
            for batch in batches:
                yield batch
                progress.advance(task, len(batch))
        return
    done = 0
    for batch in batches:
        yield batch
        before, done = done, done + len(batch)
        if before * _LINES // total < done * _LINES // total:
            console.print(f"{what}: {done} of {total}")
