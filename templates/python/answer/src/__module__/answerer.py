"""Find the answer to a question in a text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from .arguments import checked_text
from .contract import CONTRACT, Vectors
from .pair_model import PairModel
from .tokens import LongTextError, Pair, Tokens
from .top import checked_top
from .words import Chunk, chunks_of, count_tokens, windows_of, words_of

_ROOM: int = CONTRACT["settings"]["room"]

#: Of one question and a part of a text: that there is no answer (row 0, column 0), then those that
#: begin with each token of the part and are 1, 2, … tokens long: ``[1 + tokens, longest]``.
Spans = Vectors


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands in the context from ``start`` to ``end``; empty where it holds no answer."""

    text: str
    score: float
    start: int
    end: int


class Answerer(PairModel):
    """A model file that finds the answer to a question in a text."""

    _noun = "answerer"

    def answer(
        self, question: str, context: str, *, top: int = 1, no_answer: bool = False
    ) -> list[Answer]:
        """Find the best answers, the best one first.

        Args:
            question: what is asked.
            context: where the answer stands; one of any length goes through the model in parts.
            top: how many answers.
            no_answer: whether that there is none is one of them: an empty text, from 0 to 0.

        Returns:
            Answers of whole words, which may overlap; fewer than ``top`` in a short context.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            LongTextError: the question leaves no room for the context.
            ValueError: the context has no words.
        """
        most = checked_top(top, 2**31)
        asked, searched = checked_text(question, "question"), checked_text(context, "context")
        if not isinstance(no_answer, bool):
            raise TypeError(f"no_answer is {type(no_answer).__name__}; expected true or false")
        tokenizer = self._session().tokenizer
        room = _room(asked, count_tokens(tokenizer, asked))
        (chunks,) = chunks_of(tokenizer, [searched], room)
        if not any(chunk.words for chunk in chunks):
            raise ValueError("the context has no words; give a text that may hold the answer")
        parts = [chunks[first:last] for first, last in windows_of(chunks, room)]
        spans = self.spans((asked, searched[part[0].start : part[-1].end]) for part in parts)
        scores = _scores(zip(parts, spans, strict=True))
        if no_answer:
            scores[0, 0] = min(float(rows[0, 0]) for rows in spans)
        best = sorted(scores, key=lambda place: (-scores[place], place))[:most]
        return [Answer(searched[start:end], scores[start, end], start, end) for start, end in best]

    def spans(self, pairs: Iterable[Pair]) -> list[Spans]:
        """The scores of all answers to each question in the text beside it, truncated."""
        return list(self.score_pairs(pairs))

    def span_ids(self, rows: Sequence[Tokens]) -> list[Spans]:
        """Run the tokens of pairs as one batch, padded to the longest: of each what ``spans`` gives.

        Raises:
            InvalidIdsError: the model does not have such ids or types, or so many in a row.
        """
        return list(self.score_ids(rows))


def _room(question: str, tokens: int) -> int:
    """Tokens of the context that stand beside the question."""
    if tokens >= _ROOM:
        raise LongTextError(
            f'the question "{question[:40]}…" has {tokens} tokens; expected less than {_ROOM}, '
            "which the context shares; shorten it"
        )
    return _ROOM - tokens


def _scores(
    found: Iterable[tuple[Sequence[Chunk], Spans]],
) -> dict[tuple[int, int], float]:
    """The answers of whole words, each with the best score of tokens that begin and end in them."""
    scores: dict[tuple[int, int], float] = {}
    for chunks, (_, *rows) in found:
        words = {token: word for word in words_of(chunks, len(rows)) for token in range(*word[2:])}
        for token, first in words.items():
            for longer, score in enumerate(cast(list[float], rows[token].tolist())):
                last = words.get(token + longer)
                if last is not None:
                    place = first.start, last.end
                    scores[place] = max(score, scores.get(place, 0.0))
    return scores
