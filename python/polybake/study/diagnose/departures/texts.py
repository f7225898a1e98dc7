"""Departures of texts: rewritten texts, and other prompts."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from polybake.base.files.published_models import Published
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.way import Way

#: Prompts of well-known models, which programs also put before other models' texts.
_PROMPTS = (
    "query: ",
    "passage: ",
    "search_query: ",
    "search_document: ",
    "Represent this sentence for searching relevant passages: ",
)


def departures(
    prompts: Mapping[str, str], own: str | None, trained: Published | None = None
) -> Iterator[Departure]:
    """Yield the departures of texts and of prompts."""
    for name, change in _REWRITTEN.items():
        yield Departure(name, Way(text=change))
    for count in _CHARACTERS:
        yield Departure(f"cuts texts at {count} characters", Way(text=partial(_cut, count)))
    tried = {"" if own is None else prompts[own]}
    for name, prompt in _prompts(prompts, trained).items():
        if prompt not in tried:
            tried.add(prompt)
            yield Departure(name, Way(prompt=prompt))


def _prompts(prompts: Mapping[str, str], trained: Published | None) -> dict[str, str]:
    result = {"puts no prompt before texts": ""}
    result |= {f"puts the prompt {name!r} before texts": text for name, text in prompts.items()}
    result |= {f"puts the prompt {name!r} twice": 2 * text for name, text in prompts.items()}
    if len(prompts) > 1:
        result["puts all prompts before texts"] = "".join(prompts.values())
    if trained is not None:
        result |= {
            f"puts {text!r} before texts, which {trained.repository} was trained with": text
            for text in trained.prompts.values()
        }
    return result | {f"puts {text!r} before texts": text for text in _PROMPTS}


def _without_accents(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return "".join(char for char in apart if not unicodedata.combining(char))


def _without(*categories: str) -> Callable[[str], str]:
    """Drop the characters of some categories of Unicode, by the beginnings of their names."""
    return lambda text: "".join(
        char for char in text if not unicodedata.category(char).startswith(categories)
    )


def _ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode("ascii")


def _without_tags(text: str) -> str:
    return re.sub(r"<[^<>]*>", "", text)


def _cut(characters: int, text: str) -> str:
    return text[:characters]


#: Characters that programs cut texts at.
_CHARACTERS = (100, 128, 200, 250, 255, 256, 300, 400, 500, 512, 1000, 1024, 2000, 2048, 4000, 4096)


_REWRITTEN: dict[str, Callable[[str], str]] = {
    "lower-cases texts": str.lower,
    "normalises texts to NFC": partial(unicodedata.normalize, "NFC"),
    "normalises texts to NFD": partial(unicodedata.normalize, "NFD"),
    "normalises texts to NFKC": partial(unicodedata.normalize, "NFKC"),
    "strips accents": _without_accents,
    "strips texts of white space": str.strip,
    "joins white space to one space": lambda text: " ".join(text.split()),
    "drops line feeds and tabs": lambda text: re.sub(r"[\r\n\t]", "", text),
    "drops symbols": _without("S"),
    "drops emoji": _without("So", "Sk", "Cn"),
    "drops control characters": _without("Cc"),
    "drops what is not ASCII": _ascii,
    "drops HTML tags": _without_tags,
    "escapes HTML": html.escape,
    "reads HTML entities": html.unescape,
    "reads UTF-8 as Latin-1": lambda text: text.encode(errors="replace").decode("latin-1"),
}
