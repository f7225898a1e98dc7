"""Streams of texts, of whatever length."""

from collections.abc import Callable, Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TypeVar

import numpy as np

from .model import checked_text

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
    if isinstance(texts, (str, bytes, AbstractSet, Mapping)):
        raise TypeError(f"texts is a {type(texts).__name__}; expected texts one after another")
    if window < 1:
        raise ValueError(f"window is {window}; expected 1 or more")
    checked = (checked_text(text, f"texts[{i}]", i) for i, text in enumerate(texts))
    while cut := list(islice(checked, window)):
        for result in call(cut):
            # Whoever keeps a view of a window's vectors keeps them all.
            yield result.copy() if isinstance(result, np.ndarray) else result
