"""Find the answer to a question in a text."""

from dataclasses import dataclass

from .contract import SETTINGS
from .errors import LongTextError
from .model import Model, checked_text
from .words import check_tokens, words_of


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands in the context from ``start`` to ``end``; empty where it holds no answer."""

    text: str
    score: float
    start: int
    end: int


class Answerer(Model):
    """A model file that finds the answer to a question in a text."""

    def answer(
        self, question: str, context: str, *, top: int = 1, no_answer: bool = False
    ) -> list[Answer]:
        """Find the best answers, the best one first.

        Args:
            question: what is asked.
            context: where the answer stands.
            top: how many answers.
            no_answer: whether that there is none is one of them: an empty text, from 0 to 0.

        Returns:
            Answers of whole words, which may overlap; fewer than ``top`` in a short context.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            LongTextError: question and context have more tokens than the model takes.
            ValueError: the context has no words.
        """
        if top < 1:
            raise ValueError(f"top is {top}; expected 1 or more")
        asked, searched = checked_text(question, "question"), checked_text(context, "context")
        tokenizer = self._opened().tokenizer
        room = SETTINGS["room"] - len(tokenizer.encode(asked, add_special_tokens=False).ids)
        if room < 1:
            raise LongTextError(f'the question "{asked[:40]}…" leaves no room; shorten it')
        ((words, tokens),) = words_of(tokenizer, [searched], room)
        if not words:
            raise ValueError("the context has no words; give a text that may hold the answer")
        none, *rows = next(self._each([(asked, searched)]))
        check_tokens(searched, tokens, len(rows))
        by_token = {token: word for word in words for token in range(word.first, word.last)}
        scores: dict[tuple[int, int], float] = {}
        for token, first in by_token.items():
            for longer, score in enumerate(rows[token].tolist()):
                if last := by_token.get(token + longer):
                    place = first.start, last.end
                    scores[place] = max(score, scores.get(place, 0.0))
        if no_answer:
            scores[0, 0] = float(none[0])
        best = sorted(scores, key=lambda place: (-scores[place], place))[:top]
        return [Answer(searched[start:end], scores[start, end], start, end) for start, end in best]
