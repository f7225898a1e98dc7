"""Texts to measure with: the same at each call, and on each machine; or a user's own."""

import math
import random
from dataclasses import dataclass, replace
from importlib import resources
from itertools import cycle, islice
from typing import Self

from polybake.base.modelfile.fixture import Text
from polybake.base.texts.source import TextSource
from polybake.errors import InputError

#: Words of a short text: their logarithm is normal. With two special tokens it has 34 in the mean.
_MEAN, _DEVIATION, _LONGEST = 30.7, 0.7, 190

#: Calls of a round where a text comes alone: five rounds give 200, of which p99 leaves two out.
_CALLS = 40


@dataclass(frozen=True)
class Workload:
    """Texts, and how they come.

    Attributes:
        single: Each text is a call of its own, as queries come; else all are one call.
    """

    name: str
    title: str
    texts: tuple[Text, ...]
    single: bool = False

    def paired(self) -> Self:
        """The same for a model of pairs: each text beside the first one."""
        texts = [text for text in self.texts if isinstance(text, str)]
        return replace(self, texts=tuple((texts[0], text) for text in texts))

    def calls(self) -> list[tuple[Text, ...]]:
        """The texts of each call of a round."""
        if not self.single:
            return [self.texts]
        return [(text,) for text in islice(cycle(self.texts), _CALLS)]

    def part(self, most: int) -> tuple[Text, ...]:
        """At most so many of the texts, from all places alike."""
        return self.texts[:: math.ceil(len(self.texts) / most)]


def workloads() -> list[Workload]:
    """Many short texts, long ones, and a single one, as services meet them."""
    seeded = random.Random(5)  # noqa: S311 - no secret
    center = math.log(_MEAN) - _DEVIATION**2 / 2
    short = [min(round(seeded.lognormvariate(center, _DEVIATION)), _LONGEST) for _ in range(1000)]
    long = [seeded.randint(198, 252) for _ in range(200)]
    return [
        Workload("short", "1,000 short texts", _texts(seeded, short)),
        Workload("long", "200 long texts", _texts(seeded, long)),
        Workload("single", "one text of 12 tokens", _texts(seeded, [10]), single=True),
    ]


def own_workloads(source: TextSource) -> list[Workload]:
    """The texts of a corpus, at once and one by one; missing ones are left out.

    Raises:
        InputError: it cannot be read, or has no text.
    """
    found = (text for window in source.windows() for text in window.texts)
    texts = tuple(text for text in found if text is not None)
    if not texts:
        raise InputError(f"{source.name}: has no texts; give a file with one text a line")
    title = f"{len(texts):,} text{'s' * (len(texts) > 1)} of {source.path.name}"
    whole = Workload("own", title, texts)
    return [whole, Workload("single", "one of them at a time", whole.part(_CALLS), single=True)]


def _texts(seeded: random.Random, lengths: list[int]) -> tuple[str, ...]:
    # Whole tokens of most vocabularies, so that a text has about as many tokens as words.
    words = resources.files(__package__).joinpath("words.txt").read_text("ascii").split()
    return tuple(" ".join(seeded.choices(words, k=length)) for length in lengths)
