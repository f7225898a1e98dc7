"""Texts to measure with: the same in each call and on each machine, or a user's own."""

import math
import random
from dataclasses import dataclass, replace
from importlib import resources
from itertools import cycle, islice
from typing import Self

from polybake.base.modelfile.fixture import Text
from polybake.base.texts.source import TextSource
from polybake.errors import InputError

#: Words of a short text: their logarithm is normal. A text has 34 tokens in the mean, with the
#: two special tokens.
_MEAN, _DEVIATION, _LONGEST = 30.7, 0.7, 190

#: Calls of a round with one text per call: five rounds give 200, and 2 of them lie above p99.
_CALLS = 40


@dataclass(frozen=True)
class Workload:
    """Texts, and how they are split into calls.

    Attributes:
        single: Whether each text is a call of its own, like a query; else all texts are one call.
    """

    name: str
    title: str
    texts: tuple[Text, ...]
    single: bool = False

    def paired(self) -> Self:
        """Return the same workload for a model of pairs, all of them with its first text."""
        texts = [text for text in self.texts if isinstance(text, str)]
        return replace(self, texts=tuple((texts[0], text) for text in texts))

    def calls(self) -> list[tuple[Text, ...]]:
        """Return the texts of each call of a round."""
        if not self.single:
            return [self.texts]
        return [(text,) for text in islice(cycle(self.texts), _CALLS)]

    def part(self, most: int) -> tuple[Text, ...]:
        """Return at most ``most`` of the texts, evenly spaced."""
        return self.texts[:: math.ceil(len(self.texts) / most)]


def workloads() -> list[Workload]:
    """Return three workloads that services meet: short texts, long texts and a single text."""
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
    """Return two workloads of a corpus: all texts at once, and one text per call.

    Missing texts are left out.
    """
    all_texts = (text for window in source.windows() for text in window.texts)
    texts = tuple(text for text in all_texts if text is not None)
    if not texts:
        raise InputError(f"{source.name}: has no texts; give a file with one text a line")
    title = f"{len(texts):,} text{'s' * (len(texts) > 1)} of {source.path.name}"
    whole = Workload("own", title, texts)
    return [whole, Workload("single", "one of them at a time", whole.part(_CALLS), single=True)]


def _texts(seeded: random.Random, lengths: list[int]) -> tuple[str, ...]:
    # Each word is one token in most vocabularies: a text has about as many tokens as words.
    words = resources.files(__package__).joinpath("words.txt").read_text("ascii").split()
    return tuple(" ".join(seeded.choices(words, k=length)) for length in lengths)
