"""The prompt of a causal reranker: a query and a document within what its authors wrote.

They tokenise it as one text, or as several whose ids they join. Clients tokenise the query and
the document alone, each with as much around it as may share a token with it. So a prompt is parted
where that changes no id: at special tokens, else where trying shows it.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from tokenizers import Tokenizer

from polybake.base.modelfile.manifest import Pair, Piece
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

#: The places of the two texts of a pair.
QUERY, DOCUMENT = 0, 1

#: A text that is tokenised by itself: what its authors wrote, and the places of a pair's texts.
Part = tuple[str | int, ...]

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


@dataclass(frozen=True)
class PairPrompt:
    """The prompt around a query and a document.

    Attributes:
        parts: Each is tokenised by itself, and their ids are joined.
        query_limit: The tokens kept of the part with the query; None keeps all.
        document_limit: The same of the part with the document.
        max_length: The most tokens of a row, whose document is cut at its end; None takes the
            model's.
    """

    parts: tuple[Part, ...]
    query_limit: int | None = None
    document_limit: int | None = None
    max_length: int | None = None

    def for_pairs(self, baked: BakedTokenizer) -> tuple[BakedTokenizer, Pair]:
        """Return the tokenizer of the two texts, and how their ids are joined.

        Raises:
            InputError: The prompt does not hold both texts in their order, cannot be parted so that
                no id changes, or leaves no room for texts.
        """
        if baked.cut_side == "left":
            raise InputError(
                "the tokenizer cuts the beginning of long texts, and so the prompt; expected "
                'truncation_side = "right" in tokenizer_config.json; correct it there'
            )
        texts = [one for part in self.parts for one in part if isinstance(one, int)]
        if texts != [QUERY, DOCUMENT]:
            names = ", ".join(("query", "document")[text] for text in texts) or "no text"
            raise InputError(
                f"the prompt of a pair holds {names}; expected the query and the document, each "
                "once and in this order"
            )
        tokenizer = _Bare(baked)
        pieces = tuple(piece for part in self.parts for piece in self._pieces(part, tokenizer))
        pair = Pair(pieces=pieces, truncate="only_second")
        most = self._most(baked)
        if most <= pair.special:
            raise InputError(
                f"the prompt of a pair has {pair.special} tokens beside its texts, and a row has "
                f"{most}; shorten the prompt, or raise max_length"
            )
        return replace(baked, json=tokenizer.json, max_length=most), pair

    def whole(self, baked: BakedTokenizer) -> Callable[[Sequence[str]], list[int]]:
        """Return what makes a pair's ids as its authors' code does: of whole parts, then joined.

        Args:
            baked: The model's tokenizer.
        """
        return partial(self._ids, _Bare(baked), self._most(baked))

    def _most(self, baked: BakedTokenizer) -> int:
        return min(self.max_length or baked.max_length, baked.max_length)

    def _ids(self, tokenizer: "_Bare", most: int, texts: Sequence[str]) -> list[int]:
        found: list[int] = []
        end = 0
        for part in self.parts:
            ids = tokenizer.ids(
                "".join(texts[one] if isinstance(one, int) else one for one in part)
            )
            if DOCUMENT not in part:
                found += ids[: self.query_limit] if QUERY in part else ids
                continue
            behind = len(tokenizer.ids(part[-1])) if isinstance(part[-1], str) else 0
            kept = len(ids) - behind
            found += ids[:kept] if QUERY in part else ids[:kept][: self.document_limit]
            end = len(found)
            found += ids[kept:]
        return [*found[:end][: most - len(found[end:])], *found[end:]]

    def _pieces(self, part: Part, tokenizer: "_Bare") -> Iterator[Piece]:
        """Part a text into constant ids, and the pair's texts with what is tokenised with them."""
        texts = [one for one in part if isinstance(one, int)]
        if not texts:
            yield from tokenizer.constant("".join(map(str, part)))
            return
        gaps = _gaps(part)
        start = tokenizer.special_ends(gaps[0])
        yield from tokenizer.constant(gaps[0][:start])
        before = gaps[0][start:]
        for text, gap in zip(texts, gaps[1:], strict=True):
            if text == texts[-1] == QUERY:
                first = second = len(gap)  # nothing of the query's own part is kept for later
            else:
                first, second = tokenizer.cuts(before, gap, ends=text == texts[-1])
            yield self._text(text, before, gap[:first])
            yield from tokenizer.constant(gap[first:second])
            before = gap[second:]

    def _text(self, text: int, before: str, after: str) -> Piece:
        limit = self.query_limit if text == QUERY else self.document_limit
        return Piece(
            text=0 if text == QUERY else 1, type_id=0, before=before, after=after, limit=limit
        )


def _gaps(part: Part) -> list[str]:
    """What stands before, between and behind the texts of a part."""
    gaps = [""]
    for one in part:
        if isinstance(one, str):
            gaps[-1] += one
        else:
            gaps.append("")
    return gaps


class _Bare:
    """A tokenizer without special tokens of its own and without a limit."""

    def __init__(self, baked: BakedTokenizer) -> None:
        self.json = baked.with_parts(truncation=None, post_processor=None).json
        self._tokenizer = Tokenizer.from_str(self.json)
        added = json.loads(self.json)["added_tokens"]
        self._special = [one["content"] for one in added if one["content"]]

    def ids(self, text: str) -> list[int]:
        """The ids of a text."""
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def each(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of each text."""
        found = self._tokenizer.encode_batch_fast([*texts], add_special_tokens=False)
        return [one.ids for one in found]

    def constant(self, text: str) -> Iterator[Piece]:
        """The pieces of what is the same in every pair."""
        return (Piece(id=one, type_id=0) for one in self.ids(text))

    def special_ends(self, text: str) -> int:
        """Where the last special token of a text ends; 0 without one."""
        found = (text.rfind(one) + len(one) for one in self._special if one in text)
        return max(found, default=0)

    def special_begins(self, text: str) -> int | None:
        """Where the first special token of a text begins; None without one."""
        return min((text.find(one) for one in self._special if one in text), default=None)

    def cuts(self, before: str, gap: str, *, ends: bool) -> tuple[int, int]:
        """Where what stands behind a text is parted from it, and from the next text.

        Args:
            before: What is tokenised with the text.
            gap: What stands behind it.
            ends: Whether no other text stands behind that. A text that is cut must lose nothing
                of the prompt, so it is parted at once.

        Raises:
            InputError: It cannot be parted there, or nowhere.
        """
        if not gap and ends:
            return 0, 0
        begins = self.special_begins(gap)
        if ends:
            places = [(0, len(gap))]
        elif begins is not None:
            places = [(begins, self.special_ends(gap))]
        else:
            places = [(place, place) for place in range(len(gap) + 1)]
        tried = [*product(_EDGES, ("",) if ends else _EDGES), *_drawn(ends=ends)]
        firsts, others = (list(dict.fromkeys(texts)) for texts in zip(*tried, strict=True))
        whole = self.each(f"{before}{one}{gap}{other}" for one, other in tried)
        for first, second in places:
            before_gap = self.each(before + one + gap[:first] for one in firsts)
            left = dict(zip(firsts, before_gap, strict=True))
            right = dict(zip(others, self.each(gap[second:] + one for one in others), strict=True))
            between = self.ids(gap[first:second])
            if whole == [left[one] + between + right[other] for one, other in tried]:
                return first, second
        raise InputError(
            f"the prompt's {gap[:40]!r} shares tokens with the text before it, and cannot be "
            "tokenised by itself; expected a special token there, or a part of its own"
        )


def _drawn(*, ends: bool) -> Iterator[tuple[str, str]]:
    """Yield pairs of texts of several edges each, always the same; the second may be empty."""
    draw = random.Random(0)  # noqa: S311 - no secret
    for _ in range(_DRAWN):
        one, other = (
            "".join(draw.choices(_EDGES, k=draw.randint(1, _EDGES_EACH))) for _ in range(2)
        )
        yield one, "" if ends else other
