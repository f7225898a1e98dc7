"""The row of a model that finds spans by labels: the labels, then the words of a text one by one.

Source: gliner ``WhitespaceTokenSplitter`` and ``BaseProcessor.prepare_inputs``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from polybake.base.modelfile.manifest import Pair, Piece
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")


class LabelledWord(NamedTuple):
    """A word of a text, ``text[start:end]``, and its token ids."""

    start: int
    end: int
    ids: list[int]


def labelled_words(tokenizer: BakedTokenizer, texts: Sequence[str]) -> list[list[LabelledWord]]:
    """Return the words of each text, each tokenised by itself without special tokens.

    A word of which the tokenizer makes nothing, such as a character without width, is left out.
    """
    places = [[match.span() for match in _WORD.finditer(text)] for text in texts]
    known = dict.fromkeys(
        text[start:end] for text, found in zip(texts, places, strict=True) for start, end in found
    )
    ids = dict(zip(known, (one.ids for one in tokenizer.bare([*known])), strict=True))
    return [
        [
            LabelledWord(start, end, ids[text[start:end]])
            for start, end in found
            if ids[text[start:end]]
        ]
        for text, found in zip(texts, places, strict=True)
    ]


@dataclass(frozen=True)
class LabelPrompt:
    """How labels and a text become a row.

    Attributes:
        before_label: The token before each label.
        before_text: The token before the text.
        most_words: The most words of a text.
    """

    before_label: str
    before_text: str
    most_words: int

    def prompt(self, labels: Iterable[str]) -> str:
        """Return the first text of a row, which names labels."""
        return "".join(self.before_label + label for label in labels) + self.before_text

    def for_pairs(self, baked: BakedTokenizer) -> tuple[BakedTokenizer, Pair]:
        """Return the tokenizer without special tokens, and how labels and text are joined.

        Raises:
            InputError: The tokenizer cuts the beginning of long texts, or has no such tokens.
        """
        if baked.cut_side == "left":
            raise InputError(
                "the tokenizer cuts the beginning of long texts, and so the labels; expected "
                'truncation_side = "right" in tokenizer_config.json; correct it there'
            )
        for token in (self.before_label, self.before_text):
            if len(baked.bare([token])[0].ids) != 1:
                raise InputError(
                    f"the tokenizer makes several tokens of {token!r}, which stands before labels "
                    "or texts; expected a token of its own; save the tokenizer with the model"
                )
        first, last = self._around(baked)
        texts = (Piece(text=0, type_id=0), Piece(text=1, type_id=0, words=True))
        before, behind = ((Piece(id=one, type_id=0) for one in ids) for ids in (first, last))
        pair = Pair(pieces=(*before, *texts, *behind), truncate="only_second")
        return baked.with_parts(truncation=None, post_processor=None), pair

    def whole(self, baked: BakedTokenizer) -> Callable[[Sequence[str]], list[int]]:
        """Return what makes a row's ids as the library does: of words alone, then joined.

        Args:
            baked: The model's tokenizer.
        """
        first, last = self._around(baked)
        bare = baked.with_parts(truncation=None)

        def ids(texts: Sequence[str]) -> list[int]:
            prompt, text = texts
            names = prompt.removesuffix(self.before_text).split(self.before_label)[1:]
            parts = [one for name in names for one in (self.before_label, name) if one]
            words = _WORD.findall(text)
            row = [
                one for part in bare.bare([*parts, self.before_text, *words]) for one in part.ids
            ]
            return [*first, *row[: baked.max_length - len(first) - len(last)], *last]

        return ids

    def _around(self, baked: BakedTokenizer) -> tuple[list[int], list[int]]:
        first, last = baked.special_tokens
        ids = baked.untruncated.encode("a").ids
        return ids[:first], ids[len(ids) - last :]
