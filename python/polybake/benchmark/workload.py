"""Texts to measure with: the same at each call, and on each machine."""

import math
import random
from dataclasses import dataclass
from importlib import resources

#: Words of a short text: their logarithm is normal. With two special tokens it has 34 in the mean.
_MEAN, _DEVIATION, _LONGEST = 30.7, 0.7, 190


@dataclass(frozen=True)
class Workload:
    """Texts that are embedded in one call."""

    name: str
    title: str
    texts: tuple[str, ...]


def workloads() -> list[Workload]:
    """Many short texts, long ones, and a single one, as services meet them."""
    seeded = random.Random(5)  # noqa: S311 - no secret
    center = math.log(_MEAN) - _DEVIATION**2 / 2
    short = [min(round(seeded.lognormvariate(center, _DEVIATION)), _LONGEST) for _ in range(1000)]
    long = [seeded.randint(198, 252) for _ in range(200)]
    return [
        Workload("short", "1,000 short texts", _texts(seeded, short)),
        Workload("long", "200 long texts", _texts(seeded, long)),
        Workload("single", "one text of 12 tokens", _texts(seeded, [10])),
    ]


def _texts(seeded: random.Random, lengths: list[int]) -> tuple[str, ...]:
    # Whole tokens of most vocabularies, so that a text has about as many tokens as words.
    words = resources.files(__package__).joinpath("words.txt").read_text("ascii").split()
    return tuple(" ".join(seeded.choices(words, k=length)) for length in lengths)
