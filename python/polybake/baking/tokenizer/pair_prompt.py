"""The prompt of a causal reranker: a query and a document within what its authors wrote.

They tokenise it as one text, or as several whose ids they join. Clients tokenise the query and
the document alone, each with as much around it as may share a token with it. So a prompt is parted
where that changes no id: at special tokens, else where trying shows it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from polybake.baking.tokenizer.bare_tokenizer import BareTokenizer
from polybake.base.modelfile.manifest import Pair, Piece
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: The places of the two texts of a pair.
QUERY, DOCUMENT = 0, 1

#: A text that is tokenised by itself: what its authors wrote, and the places of a pair's texts.
Part = tuple[str | int, ...]


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
        """Return the tokenizer of the two texts, and how their ids are joined."""
        texts = [item for part in self.parts for item in part if isinstance(item, int)]
        if texts != [QUERY, DOCUMENT]:
            names = ", ".join(("query", "document")[text] for text in texts) or "no text"
            raise InputError(
                f"the prompt of a pair holds {names}; expected the query and the document, each "
                "once and in this order"
            )
        tokenizer = BareTokenizer(baked)
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
        """Return what makes a pair's ids as its authors' code does: of whole parts, then joined."""
        return partial(self._ids, BareTokenizer(baked), self._most(baked))

    def _most(self, baked: BakedTokenizer) -> int:
        return min(self.max_length or baked.max_length, baked.max_length)

    def _ids(self, tokenizer: BareTokenizer, most: int, texts: Sequence[str]) -> list[int]:
        row: list[int] = []
        end = 0
        for part in self.parts:
            ids = tokenizer.ids(
                "".join(texts[item] if isinstance(item, int) else item for item in part)
            )
            if DOCUMENT not in part:
                row += ids[: self.query_limit] if QUERY in part else ids
                continue
            behind = len(tokenizer.ids(part[-1])) if isinstance(part[-1], str) else 0
            stop = len(ids) - behind
            row += ids[:stop] if QUERY in part else ids[:stop][: self.document_limit]
            end = len(row)
            row += ids[stop:]
        return [*row[:end][: most - len(row[end:])], *row[end:]]

    def _pieces(self, part: Part, tokenizer: BareTokenizer) -> Iterator[Piece]:
        """Part a text into constant ids, and the pair's texts with what is tokenised with them."""
        texts = [item for item in part if isinstance(item, int)]
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
    for item in part:
        if isinstance(item, str):
            gaps[-1] += item
        else:
            gaps.append("")
    return gaps
