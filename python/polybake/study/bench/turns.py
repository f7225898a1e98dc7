"""Time several tasks in turns, so that a slow minute of the machine affects all of them."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, computed_field

Name = TypeVar("Name")


class Timing(BaseModel):
    """How long the calls of a task took.

    Attributes:
        seconds: The seconds of each call, round by round.
    """

    model_config = ConfigDict(frozen=True)

    seconds: tuple[tuple[float, ...], ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def median(self) -> float:
        """The median of all calls, in seconds."""
        return self.percentile(50)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def spread(self) -> float:
        """The range of the rounds' medians, divided by the median of all calls."""
        rounds = [statistics.median(calls) for calls in self.seconds]
        return (max(rounds) - min(rounds)) / self.median

    def percentile(self, percent: float) -> float:
        """Return a percentile of all calls, in seconds."""
        return float(np.percentile([call for calls in self.seconds for call in calls], percent))


def in_turns(
    tasks: Mapping[Name, Sequence[Callable[[], object]]],
    rounds: int,
    progress: Callable[[str], None],
) -> dict[Name, Timing]:
    """Time the calls of each task, ``rounds`` times after a warm-up."""
    seconds: dict[Name, list[tuple[float, ...]]] = {name: [] for name in tasks}
    for number in range(rounds + 1):
        progress(f"round {number} of {rounds}" if number else "warm-up")
        for name, calls in tasks.items():
            times = tuple(_timed(call) for call in calls)
            if number:
                seconds[name].append(times)
    return {name: Timing(seconds=tuple(times)) for name, times in seconds.items()}


def _timed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    result = call()  # freeing the result is not timed
    seconds = time.perf_counter() - begin
    del result
    return seconds
