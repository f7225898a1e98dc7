"""The texts that fixtures are made of: the built-in cases, and the user's own lines."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polybake.baking.golden.length import text_of_length
from polybake.base.files.inputs import asked
from polybake.errors import InputError

_TEXTS = Path(__file__).with_name("texts.toml")

#: The meanings of a case's flags.
FLAGS: dict[str, str] = {
    "batch": "texts of different length in one call",
    "prompt": "a prompt of the model stands before the text",
    "truncation": "exactly as many tokens as the model takes, or more",
    "unicode": "characters beyond ASCII",
    "user": "the user's own texts",
}

#: The most tokens of a built-in text; more would take minutes and gigabytes.
_LONGEST = 16_384

#: The most texts of a case of the user's own lines.
_USER_BATCH = 8


@dataclass(frozen=True)
class CaseText:
    """A case before its golden values are known: a call with these texts."""

    id: str
    why: str
    flags: tuple[str, ...]
    prompt: str | None
    texts: tuple[str, ...]


def builtin_cases(
    *, prompts: Mapping[str, str], token_count: Callable[[str], int], max_length: int
) -> list[CaseText]:
    """Return the cases that every model gets, the most telling first."""
    full, over = (
        text_of_length(length, token_count) if length <= _LONGEST + 1 else None
        for length in (max_length, max_length + 1)
    )
    return [
        *_written("plain"),
        *_length_cases(full, over),
        *_prompt_cases(prompts, full),
        *_written("characters"),
    ]


def read_texts(paths: Iterable[Path]) -> list[str]:
    """The lines of text files, in order; empty lines are left out."""
    texts: list[str] = []
    for path in paths:
        try:
            # Not splitlines: a text may hold U+2028, a form feed and the like.
            texts += asked(path).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: {error}; give a UTF-8 file with one text a line") from error
    return [text for text in texts if text]


def user_cases(texts: Sequence[str]) -> list[CaseText]:
    """Deal the user's texts to cases of at most eight texts, each with short and long texts.

    Every text occurs in one case; within a case the texts keep their order.
    """
    by_length = sorted(range(len(texts)), key=lambda index: (len(texts[index]), index))
    batches = -(-len(texts) // _USER_BATCH)
    return [
        _case(
            f"user-{number + 1:03}",
            "A difference on the user's own texts is one that the user will meet.",
            *(texts[index] for index in sorted(by_length[number::batches])),
            flags="user batch",
        )
        for number in range(batches)
    ]


def _case(name: str, why: str, *texts: str, flags: str = "", prompt: str | None = None) -> CaseText:
    script = () if all(map(str.isascii, texts)) else ("unicode",)
    return CaseText(name, why, (*flags.split(), *script), prompt, texts)


def _written(kind: str) -> list[CaseText]:
    """The cases of texts.toml."""
    cases = tomllib.loads(_TEXTS.read_text(encoding="utf-8"))[kind]
    return [
        _case(case["id"], case["why"], *case["texts"], flags="batch" if case.get("batch") else "")
        for case in cases
    ]


def _length_cases(full: str | None, over: str | None) -> list[CaseText]:
    if full is None or over is None:
        return []
    return [
        _case(
            "max-length",
            "A limit that is one token too small drops the end.",
            full,
            flags="truncation",
        ),
        _case(
            "one-over",
            "A client that does not truncate lets one token too many in.",
            over,
            flags="truncation",
        ),
    ]


def _prompt_cases(prompts: Mapping[str, str], full: str | None) -> list[CaseText]:
    cases = [
        _case(
            f"prompt-{number}-{re.sub('[^a-z0-9]+', '-', name.lower())}".rstrip("-"),
            f"A client that drops or misspells the prompt {name!r} embeds the bare text.",
            "how do boats pass a weir",
            prompt=name,
            flags="prompt",
        )
        for number, name in enumerate(prompts, start=1)
    ]
    spoken = next((name for name, prompt in prompts.items() if prompt), None)
    if spoken is None:
        return cases
    return [
        *cases,
        _case(
            "prompt-empty-text",
            "A client that skips empty texts forgets that the prompt still has tokens.",
            "",
            prompt=spoken,
            flags="prompt",
        ),
        *_prompt_length_cases(spoken, full),
    ]


def _prompt_length_cases(prompt: str, full: str | None) -> list[CaseText]:
    if full is None:
        return []
    return [
        _case(
            "prompt-truncates",
            "A client that truncates the text before it adds the prompt keeps too many tokens.",
            full,
            prompt=prompt,
            flags="prompt truncation",
        )
    ]
