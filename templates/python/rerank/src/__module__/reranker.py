"""Order documents by how well they answer a query."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arguments import checked_text, checked_texts
from .pair_model import PairModel
from .top import checked_top

#: ``[documents]``.
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of a document in the list that was given, and how well it answers."""

    index: int
    score: float


class Reranker(PairModel):
    """A model file that says how well documents answer a query."""

    _noun = "reranker"

    def rerank(self, query: str, documents: Iterable[str], *, top: int | None = None) -> list[Rank]:
        """Order documents, best first; of equal ones the first comes first.

        Args:
            query: what they should answer.
            documents: a list, or whatever gives texts one after another.
            top: how many are given; all of them where it is not said.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        most = checked_top(top, sys.maxsize)
        scores = self.score(query, documents)
        places = np.argsort(-scores, kind="stable")[:most]
        return [Rank(int(place), float(scores[place])) for place in places]

    def score(self, query: str, documents: Iterable[str]) -> Scores:
        """How well each document answers the query: ``[documents]``, in their order."""
        asked, checked = checked_text(query, "query"), checked_texts(documents, "documents")
        scores: Scores = self.score_pairs((asked, document) for document in checked)[:, 0]
        return scores
