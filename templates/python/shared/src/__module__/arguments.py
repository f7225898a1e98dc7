"""What callers may give, checked before anything is run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import DEFAULT_PROMPT, MAX_LENGTH, PROMPTS, VOCAB_SIZE
from .errors import InvalidIdsError, InvalidTextError, UnknownPromptError

#: Token ids by row.
Rows = Sequence[Sequence[int]] | Sequence[NDArray[np.integer]] | NDArray[np.integer]


def checked_prompt(prompt: str | None) -> str | None:
    """The name of a prompt of this model; the default one, or None, where none is named."""
    if prompt is None:
        return DEFAULT_PROMPT
    if prompt not in PROMPTS:
        remedy = f"choose one of: {', '.join(PROMPTS)}" if PROMPTS else "this model has none"
        raise UnknownPromptError(f'unknown prompt "{prompt!s:.80}"; {remedy}')
    return prompt


def checked_text(text: str, name: str = "text", index: int = 0) -> str:
    """A text of valid Unicode; ``name`` is its argument's, or its place in a list."""
    if not isinstance(text, str):
        raise TypeError(f"{name} is {type(text).__name__}; expected a string")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidTextError(index, f"{name} is not valid Unicode; repair or drop it") from error
    return text


def checked_texts(texts: Iterable[str], name: str = "texts") -> Iterator[str]:
    """Texts of valid Unicode: of a collection all at once, else each as it is taken."""
    checked = checked_each(texts, name)
    return iter(list(checked)) if isinstance(texts, Sized) else checked


def checked_each(texts: Iterable[str], name: str = "texts") -> Iterator[str]:
    """Texts of valid Unicode, each checked as it is taken; that they have an order, at once."""
    if isinstance(texts, str):
        raise TypeError("expected a list of texts, got a string; put it into a list")
    unordered = isinstance(texts, (bytes, bytearray, AbstractSet, Mapping))
    if unordered or not isinstance(texts, Iterable):
        raise TypeError(f"expected a list of texts, got {type(texts).__name__}")
    return (checked_text(text, f"{name}[{i}]", i) for i, text in enumerate(texts))


def checked_rows(rows: Any) -> list[list[int]]:
    """Rows of token ids that the model has, none too long."""
    if not isinstance(rows, (list, tuple, np.ndarray)):
        raise TypeError(f"expected rows of token ids, got {type(rows).__name__}")
    return [_checked_row(number, row) for number, row in enumerate(rows)]


def _checked_row(number: int, row: Any) -> list[int]:
    name, ids = f"rows[{number}]", np.asarray(row)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        shown = f"an array of {ids.dtype}" if ids.ndim else type(row).__name__
        raise TypeError(f"{name} is {shown}; expected a list of token ids")
    if len(ids) > MAX_LENGTH:
        raise InvalidIdsError(number, f"{name} has {len(ids)} ids; expected at most {MAX_LENGTH}")
    wrong = np.flatnonzero((ids < 0) | (ids >= VOCAB_SIZE))
    if wrong.size:
        place = wrong[0]
        expected = f"expected a whole number from 0 to {VOCAB_SIZE - 1}"
        raise InvalidIdsError(number, f"{name}[{place}] is {ids[place]}; {expected}")
    return [int(token) for token in ids]
