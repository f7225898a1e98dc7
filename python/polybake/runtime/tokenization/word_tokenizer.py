"""Convert sentence-transformers' WhitespaceTokenizer to a tokenizer.json with the same ids.

The WhitespaceTokenizer looks up each word as it stands, then without the punctuation around it,
then in lower case, and drops unknown words. Here a word that must be looked up before it is
stripped or lowered (``U.S.``, ``Boat``) is first marked, by another white space character before
it; then all other words are stripped, and all are lowered. A BPE model without merges and without
an unknown token finds whole words and drops the rest: every word of its vocabulary begins with
white space, so that no single character is a word.

Source: sentence-transformers ``WhitespaceTokenizer.tokenize``.
"""

import string
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import NO_LIMIT
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.tokenizer_json import TokenizerJson, truncation
from polybake.runtime.tokenization.word_pattern import any_of, character_class

#: The characters that ``str.split`` splits at, without the plain space.
_MARKS = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_PUNCTUATION = character_class(string.punctuation)

#: The most words to mark; the pattern of more words would take seconds to load.
_MOST_MARKED = 100_000

#: ``str.lower`` for letters that depend on others, as `Lowercase` lowers letter by letter.
_LOWERED: list[dict[str, object]] = [
    {
        "type": "Replace",
        "pattern": {
            "Regex": r"\p{Cased}\p{Case_Ignorable}*\K\x{3a3}(?!\p{Case_Ignorable}*\p{Cased})"
        },
        "content": "\u03c2",
    },
    {"type": "Lowercase"},
]


@dataclass(frozen=True)
class Words:
    """The settings of a WhitespaceTokenizer.

    Attributes:
        vocabulary: The words; the last place of a word is its id.
        stop_words: Words that are dropped when they are looked up.
        lowercase: Whether the whole text is lowered first.
    """

    vocabulary: tuple[str, ...]
    stop_words: frozenset[str] = frozenset()
    lowercase: bool = False

    @cached_property
    def ids(self) -> dict[str, int | None]:
        """The id of each word that a text can have; None drops the word."""
        looked_up: dict[str, int | None] = {
            word: number for number, word in enumerate(self.vocabulary)
        }
        looked_up |= dict.fromkeys(self.stop_words)
        return {word: found for word, found in looked_up.items() if self._may_stand(word)}

    def _may_stand(self, word: str) -> bool:
        return word.split() == [word] and (not self.lowercase or word.lower() == word)

    def stripped(self, word: str) -> int | None:
        """The id of a word that is not looked up as it stands."""
        bare = word.strip(string.punctuation)
        return self.ids[bare] if bare in self.ids else self.ids.get(bare.lower())


def bake_word_tokenizer(
    folder: ModelFolder, words: Words, *, max_length: int = NO_LIMIT
) -> BakedTokenizer:
    """Express ``words`` as a tokenizer.json.

    Args:
        folder: The model's, for messages.
        words: The tokenizer's settings.
        max_length: Words kept of a text.

    Raises:
        InputError: words that no tokenizer.json can look up the same way.
    """
    if "" in words.vocabulary:
        raise InputError(
            f"{folder.path}: the vocabulary has the empty word, which every punctuation mark "
            "would be; give it another name"
        )
    marked = _marked(folder, words)
    plain = {
        f" {word}": found
        for word, found in words.ids.items()
        if found is not None and word == word.strip(string.punctuation).lower()
    }
    vocabulary = {
        f"{mark}{word.lower()}": found
        for mark, group in (marked.as_they_stand | marked.stripped).items()
        for word in group
        if (found := words.ids[word]) is not None
    }
    separators = character_class([" ", *marked.as_they_stand, *marked.stripped])
    data: dict[str, object] = {
        "version": "1.0",
        "truncation": None if max_length == NO_LIMIT else truncation(max_length),
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "Sequence",
            "normalizers": _normalizers(words, marked, separators),
        },
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": separators},
            "behavior": "MergedWithNext",
            "invert": False,
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "unk_token": None,
            "ignore_merges": True,
            "vocab": plain | vocabulary,
            "merges": [],
        },
    }
    text, _ = TokenizerJson.model_validate(data).make(folder)
    return BakedTokenizer(text, max_length, 0, "right")


@dataclass(frozen=True)
class _Marked:
    """Words to find before they change, by mark; no two words of a mark have equal lower case.

    Attributes:
        as_they_stand: Words with punctuation around them, such as ``U.S.``.
        stripped: Words without punctuation around them, such as ``Boat``.
    """

    as_they_stand: dict[str, list[str]]
    stripped: dict[str, list[str]]


def _marked(folder: ModelFolder, words: Words) -> _Marked:
    with_punctuation, bare = [], []
    for word, found in words.ids.items():
        if word != word.strip(string.punctuation):
            if found != words.stripped(word):
                with_punctuation.append(word)
        elif found != words.ids.get(word.lower()):
            bare.append(word)
    groups, bare_groups = _groups(with_punctuation), _groups(bare)
    count = len(with_punctuation) + len(bare)
    if count > _MOST_MARKED or len(groups) + len(bare_groups) > len(_MARKS):
        raise InputError(
            f"{folder.path}: {count} words of the tokenizer have punctuation around them or "
            f"capital letters, such as {(bare + with_punctuation)[0]!r}; at most {_MOST_MARKED} "
            "can be told from the same words without; save it with do_lower_case"
        )
    return _Marked(
        dict(zip(_MARKS, groups, strict=False)),
        dict(zip(_MARKS[len(groups) :], bare_groups, strict=False)),
    )


def _groups(words: Iterable[str]) -> list[list[str]]:
    """Deal words to as few groups as have no two that are equal in lower case."""
    groups: list[list[str]] = []
    seen: defaultdict[str, int] = defaultdict(int)
    for word in words:
        place = seen[word.lower()]
        seen[word.lower()] += 1
        if place == len(groups):
            groups.append([])
        groups[place].append(word)
    return groups


def _normalizers(words: Words, marked: _Marked, separators: str) -> list[dict[str, object]]:
    end = rf"(?:{separators}|\z)"
    strippable = character_class([" ", *marked.stripped])
    within = f"[^{separators[1:]}"
    return [
        *(_LOWERED if words.lowercase else ()),
        _replace(f"{character_class([' ', *_MARKS])}+", " "),
        {"type": "Prepend", "prepend": " "},
        *(
            _replace(f" (?={any_of(group)}{end})", mark)
            for mark, group in marked.as_they_stand.items()
        ),
        *(
            _replace(f" (?={_PUNCTUATION}*{any_of(group)}{_PUNCTUATION}*{end})", mark)
            for mark, group in marked.stripped.items()
        ),
        _replace(f"(?<={strippable}){_PUNCTUATION}+", ""),
        _replace(rf"{strippable}{within}*?\K{_PUNCTUATION}+(?={end})", ""),
        *(() if words.lowercase else _LOWERED),
    ]


def _replace(pattern: str, content: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
