"""Let hypothesis draw random values from a seed, and find the smallest with a property."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import TypeVar

from hypothesis import Phase, Verbosity, find, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from polybake.base.files.scratch import Scratch

Value = TypeVar("Value")


def draw(values: SearchStrategy[Value], number: int, seed: int) -> list[Value]:
    """Draw ``number`` values; a seed and a version of hypothesis always give the same values."""
    draws: list[Value] = []

    def seen(value: Value) -> bool:
        draws.append(value)
        return False

    _find(values, seen, number, seed)
    return draws


def smallest(
    values: SearchStrategy[Value], number: int, seed: int, fails: Callable[[Value], bool]
) -> Value | None:
    """Find the smallest value that fails; None if no value fails.

    This tries the values of `draw` in their order until the first that fails, then smaller
    values.
    """
    return _find(values, fails, number, seed)


def _find(
    values: SearchStrategy[Value], predicate: Callable[[Value], bool], number: int, seed: int
) -> Value | None:
    options = settings(
        max_examples=number,
        phases=(Phase.generate, Phase.shrink),
        derandomize=False,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
    )
    with _nothing_kept():
        try:
            return find(values, predicate, settings=options, random=Random(seed))  # noqa: S311
        except NoSuchExample:
            return None


@contextmanager
def _nothing_kept() -> Iterator[None]:
    """Keep hypothesis from writing its tables of characters into the user's folder."""
    with Scratch() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
