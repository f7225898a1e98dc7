"""Order documents by how well they answer a query."""

from collections.abc import Iterable
from dataclasses import dataclass

from .model import Model, checked_text, checked_texts
from .ranking import best, check_top
from .session import Vectors, stacked


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of a document in the list that was given, and how well it answers."""

    index: int
    score: float


class Reranker(Model):
    """A model file that says how well documents answer a query."""

    def rerank(self, query: str, documents: Iterable[str], *, top: int | None = None) -> list[Rank]:
        """Order documents, the best first, at most ``top``; of equal ones the first comes first.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        check_top(top)
        scores = self.score(query, documents)
        return [Rank(place, float(scores[place])) for place in best(scores, top)]

    def score(self, query: str, documents: Iterable[str]) -> Vectors:
        """How well each document answers the query: ``[documents]``, in their order."""
        asked, given = checked_text(query, "query"), checked_texts(documents, "documents")
        scores: Vectors = stacked(self._each([(asked, document) for document in given]))[:, 0]
        return scores
