"""A model of pairs of texts, opened."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .model import Model
from .outputs import Results, empty
from .pair_arguments import checked_pairs, checked_tokens
from .tokens import Pair, Tokens, packed, unpacked


class PairModel(Model):
    """A model file whose rows are pairs of texts."""

    def tokenize(self, pairs: Iterable[Pair]) -> list[Tokens]:
        """The tokens of each pair, cut and joined, not padded."""
        return [unpacked(row) for row in self._tokenize(pairs, None)]

    def score_pairs(self, pairs: Iterable[Pair]) -> Results:
        """What the graph gives for each pair: ``[pairs, numbers]``."""
        return self._vectors(pairs, None)

    def score_ids(self, rows: Sequence[Tokens]) -> Results:
        """Run the tokens of pairs as one batch, padded to the longest: ``[pairs, numbers]``.

        Raises:
            InvalidIdsError: the model does not have such ids or types, or so many in a row.
        """
        return self._run(rows, None)

    def _checked(self, texts: Iterable[Any]) -> Iterator[Pair]:
        return checked_pairs(texts)

    def _run(self, rows: Any, prompt: str | None) -> Results:
        checked, session = checked_tokens(rows), self._session()
        return session.run([packed(row) for row in checked], prompt) if checked else empty(0)
