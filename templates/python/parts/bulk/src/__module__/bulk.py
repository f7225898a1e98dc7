"""Streams of texts, of whatever length."""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import numpy as np

from .arguments import checked_each

Result = TypeVar("Result")


def each(
    call: Callable[[list[str]], Iterable[Result]], texts: Iterable[str], *, window: int = 8192
) -> Generator[Result, None, None]:
    """Give what a call gives for each text of a stream, one after another.

    It takes at most ``window`` texts more than it has given results for, in the thread that asks for
    them. Between two windows it uses nothing of the model, so that a stream may be left at any text.

    Example: ``for vector in each(embedder.embed, lines): ...``

    Args:
        call: a method that takes texts, such as ``embedder.embed``, or a function that calls one.
        texts: whatever gives texts one after another.
        window: how many texts one call is given.

    Raises:
        InvalidTextError: a text is not valid Unicode; ``index`` counts from the stream's beginning.
            It comes in place of its window's results, as does whatever ``texts`` raises.
    """
    if window < 1:
        raise ValueError(f"window is {window}; expected 1 or more")
    checked = checked_each(texts)
    return _each(call, checked, window)


def _each(
    call: Callable[[list[str]], Iterable[Result]], texts: Iterator[str], window: int
) -> Generator[Result, None, None]:
    while cut := list(islice(texts, window)):
        for result in call(cut):
            # Whoever keeps a view of a window's vectors keeps them all.
            yield result.copy() if isinstance(result, np.ndarray) else result
