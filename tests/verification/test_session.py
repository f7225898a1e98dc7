"""The time that a client may take."""

from __future__ import annotations

import pytest

from polybake.errors import InputError
from polybake.verification.session import Timeouts


def test_what_reads_the_whole_file_may_take_twice_as_long() -> None:
    """One number decides how long answers take, and the default is a minute."""
    found = Timeouts.of(5)
    assert (found.answer, found.load) == (5, 10)
    assert Timeouts.of(60.0) == Timeouts()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e9])
def test_an_impossible_time_is_refused(seconds: float) -> None:
    """The value and what was expected are named."""
    with pytest.raises(InputError, match=r"timeout \S+: expected seconds above 0, at most 86400"):
        Timeouts.of(seconds)
