"""Random texts: every general category of Unicode, and whatever makes tokenizers stumble."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from polybake.baking.golden.length import text_of_length
from polybake.base.modelfile.manifest import Contract
from polybake.runtime.tokenizer import BakedTokenizer

#: The most texts of a call.
BATCH = 8

#: The most pieces of a text.
_PIECES = 6

#: The largest limit for which texts of about that many tokens are drawn; golden cases have
#: longer texts.
_LONGEST = 2_048

#: One call in 12 has texts of about the limit: they take as long as all others together.
_LONG = 12

#: Characters of the longest word; BERT's tokenizer gives up at 100.
_WORD = 120

# Source: The Unicode Standard, "General Category"; lone surrogates (Cs) are no valid text.
_CATEGORIES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Zs", "Zl", "Zp"),
    *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Cc", "Cf", "Co", "Cn"),
)

#: The ends of planes and of the range that surrogates take from the first plane.
_EDGES = "\ud7ff\ue000\ufdd0\ufffd\uffff\U00010000\U0001ffff\U0010fffd\U0010ffff"

_WHITE = " \t\n\v\f\r\x1c\x85\xa0\u1680\u180e\u2003\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"

#: Hebrew, Arabic with joiners and a ligature, and what turns the direction of text.
_RIGHT_TO_LEFT = "אבגשׁםلا\u0644\u0627ﷺیک٤\u200c\u200d\u200e\u200f\u202b\u202e\u2067\u2069"

#: Emoji, skin tones, a variation selector, a keycap, and the letters of flags.
_EMOJI = "😀👩🏽🚀❤\ufe0f1\u20e3🇩🇯🇵🏴\U000e0067\U000e007f"

_WORDS = (
    "the",
    "River",
    "BOATS",
    "unaffordable",
    "naïve",
    "ﬁne",
    "don't",
    "3.14",
    "東京",
    "Straße",
)


@dataclass(frozen=True)
class Drawn:
    """A call: the name of a prompt, or None for the default, and texts."""

    prompt: str | None
    texts: tuple[str, ...]


def drawn_cases(contract: Contract, tokenizer: BakedTokenizer) -> SearchStrategy[Drawn]:
    """Draw calls of a model: one to `BATCH` texts, with the default or a named prompt.

    The spellings of the tokenizer's added tokens are drawn, too.
    """
    short = st.lists(_text(tokenizer), min_size=1, max_size=BATCH)
    long = st.lists(_about_the_limit(contract, tokenizer), min_size=1, max_size=2)
    return st.builds(
        Drawn,
        prompt=st.sampled_from((None, *contract.prompts)),
        texts=st.one_of(*[short] * (_LONG - 1), long).map(tuple),
    )


def _text(tokenizer: BakedTokenizer) -> SearchStrategy[str]:
    """Draw pieces of several kinds, joined with or without spaces."""
    tokens = tokenizer.untruncated.get_added_tokens_decoder().values()
    pieces = st.lists(_piece([token.content for token in tokens]), max_size=_PIECES)
    return st.builds(str.join, st.sampled_from(("", " ")), pieces)


def _piece(own: Sequence[str]) -> SearchStrategy[str]:
    any_character = st.characters(exclude_categories=["Cs"])
    marks = st.text(st.characters(categories=["Mn", "Mc", "Me"]), min_size=1, max_size=5)
    return st.one_of(  # shrinking prefers the first kinds
        st.text(any_character, max_size=12),
        st.sampled_from(_CATEGORIES).flatmap(_of_category),
        st.builds(str.__add__, any_character, marks),
        st.builds(str.__mul__, any_character, st.integers(2, _WORD)),
        st.lists(st.sampled_from(_EMOJI), min_size=1, max_size=5).map("\u200d".join),
        *(st.text(st.sampled_from(kind), min_size=1, max_size=8) for kind in _ALPHABETS),
        *([st.sampled_from(own)] if own else ()),
        st.sampled_from(_WORDS),
    )


_ALPHABETS = (_EDGES, _WHITE, _RIGHT_TO_LEFT, _EMOJI)


def _of_category(name: str) -> SearchStrategy[str]:
    return st.text(st.characters(categories=[name]), min_size=1, max_size=4)  # type: ignore[list-item]


def _about_the_limit(contract: Contract, tokenizer: BakedTokenizer) -> SearchStrategy[str]:
    """Draw prose whose length is the model's limit, or a token less or more."""
    if contract.max_length > _LONGEST:
        return _text(tokenizer)
    lengths = [contract.max_length + more for more in (-1, 0, 1)]
    befores = dict.fromkeys(("", *contract.prompts.values()))
    return st.sampled_from(
        [_of_length(n, before, tokenizer) for before in befores for n in lengths]
    )


def _of_length(tokens: int, before: str, tokenizer: BakedTokenizer) -> str:
    return text_of_length(tokens, lambda text: tokenizer.count(before + text))
