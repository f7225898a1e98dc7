"""How far a long run is, on a terminal; elsewhere nothing is shown."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """Give a function that shows the stage that begins, with a spinner, on standard error."""
    console = Console(stderr=True)
    with console.status("") as status:
        yield lambda stage: status.update(f"{stage} …")
