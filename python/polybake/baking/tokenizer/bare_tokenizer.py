"""A tokenizer of bare texts, which knows where a text may be parted so that no id changes."""

import json
import random
from collections.abc import Iterable, Iterator
from itertools import product

from tokenizers import Tokenizer

from polybake.base.modelfile.manifest import Piece
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: Ends and beginnings of texts that tokenizers join with what stands beside them, or do not.
_EDGES = (
    *("", " ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\0", "\u200d", "\ufeff"),
    *("a", "Z", "the", " the", "the ", "1", "12", ".", ".\n", ".\n\n", ". ", "?", "!", ",", ";"),
    *("'", "'s", '"', "(", ")", "<", ">", "</", "|", "<|", "|>", "-", "--", "_", "\\", "/", "#"),
    *("=", ":", ": ", "::", "\u0301", "e\u0301", "\u00e9", "\u4e2d", "\u3002", "\u0e01", "\u0645"),
    *("\U0001f600", "\U0001f468\u200d\U0001f469", "\u2581", "\u0120", "<s>", "</s>", "<pad>"),
)
#: Further texts that are drawn of these, and the most edges in one.
_DRAWN, _EDGES_EACH = 1_000, 3


class BareTokenizer:
    """A tokenizer without special tokens of its own and without a limit, of one that cuts ends."""

    def __init__(self, baked: BakedTokenizer) -> None:
        if baked.cut_side == "left":
            raise InputError(
                "the tokenizer cuts the beginning of long texts, and so the prompt; expected "
                'truncation_side = "right" in tokenizer_config.json; correct it there'
            )
        self.json = baked.with_parts(truncation=None, post_processor=None).json
        self._tokenizer = Tokenizer.from_str(self.json)
        tokens = json.loads(self.json)["added_tokens"]
        self._special = [token["content"] for token in tokens if token["content"]]

    def ids(self, text: str) -> list[int]:
        """The ids of a text."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def each(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of each text."""
        encodings = self._tokenizer.encode_batch_fast([*texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def constant(self, text: str) -> Iterator[Piece]:
        """The pieces of what is the same in every pair."""
        return (Piece(id=number, type_id=0) for number in self.ids(text))

    def special_ends(self, text: str) -> int:
        """Where the last special token of a text ends; 0 without one."""
        ends = (text.rfind(token) + len(token) for token in self._special if token in text)
        return max(ends, default=0)

    def special_begins(self, text: str) -> int | None:
        """Where the first special token of a text begins; None without one."""
        return min((text.find(token) for token in self._special if token in text), default=None)

    def cuts(self, before: str, gap: str, *, ends: bool) -> tuple[int, int]:
        """Return where the gap behind a text begins and ends, as tokens are split there.

        If no text stands behind the gap (``ends``), it is parted at once, as a text that is cut
        must lose nothing of the prompt.
        """
        if not gap and ends:
            return 0, 0
        begins = self.special_begins(gap)
        if ends:
            places = [(0, len(gap))]
        elif begins is not None:
            places = [(begins, self.special_ends(gap))]
        else:
            places = [(index, index) for index in range(len(gap) + 1)]
        pairs = [*product(_EDGES, ("",) if ends else _EDGES), *_drawn(ends=ends)]
        firsts, lasts = (list(dict.fromkeys(texts)) for texts in zip(*pairs, strict=True))
        whole = self.each(f"{before}{edge}{gap}{other}" for edge, other in pairs)
        for first, second in places:
            before_gap = self.each(before + edge + gap[:first] for edge in firsts)
            left = dict(zip(firsts, before_gap, strict=True))
            right = dict(zip(lasts, self.each(gap[second:] + edge for edge in lasts), strict=True))
            between = self.ids(gap[first:second])
            if whole == [left[edge] + between + right[other] for edge, other in pairs]:
                return first, second
        raise InputError(
            f"the prompt's {gap[:40]!r} shares tokens with the text before it, and cannot be "
            "tokenised by itself; expected a special token there, or a part of its own"
        )


def _drawn(*, ends: bool) -> Iterator[tuple[str, str]]:
    """Yield pairs of texts of several edges each, always the same; the second may be empty."""
    draw = random.Random(0)  # noqa: S311 - no secret
    for _ in range(_DRAWN):
        edge, other = (
            "".join(draw.choices(_EDGES, k=draw.randint(1, _EDGES_EACH))) for _ in range(2)
        )
        yield edge, "" if ends else other
