"""The verdict of a comparison: must stored vectors be embedded again?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from polybake.study.diff.neighbours import Neighbours
from polybake.study.diff.parts import ModelParts
from polybake.study.diff.stage_result import StageResult

#: The share of neighbours that must stay when vectors of both files are mixed.
#: Source: docs/comparing.md, "The answer".
ENOUGH = 0.99

#: With fewer texts, ten neighbours each say little.
FEW = 50

#: What to do with stored vectors if the new ones are shorter.
SHORTENED = {
    "cut": "the new vectors are the first elements of the old ones: cut those you have",
    "cut and normalized": (
        "the new vectors are the first elements of the old ones, normalized again: "
        "do so with those you have"
    ),
}


@dataclass(frozen=True)
class DiffVerdict:
    """The answer.

    Attributes:
        question: ``Re-index`` for stored vectors, ``Other answers`` for all other tasks.
        answer: ``no, for now`` if vectors differ but can be mixed.
        reason: The reason in one or two sentences.
    """

    question: Literal["Re-index", "Other answers"]
    answer: Literal["no", "no, for now", "yes"]
    reason: str

    def __str__(self) -> str:
        return f"{self.question}: {self.answer}. {self.reason}"


def verdict(
    parts: ModelParts,
    stages: Sequence[StageResult] = (),
    neighbours: Neighbours | None = None,
    shorter: str | None = None,
) -> DiffVerdict:
    """Answer the question."""
    question: Literal["Re-index", "Other answers"] = (
        "Re-index" if parts.indexed else "Other answers"
    )
    if parts.obstacle:
        cut = f"; {SHORTENED[shorter]}" if shorter else ""
        return DiffVerdict(question, "yes", f"{_sentence(parts.obstacle)}{cut}.")
    if parts.settings_differ:
        return DiffVerdict(question, "yes", "The settings by which clients answer differ.")
    if parts.prompts_gone:
        names = ", ".join(map(repr, parts.prompts_gone))
        return DiffVerdict(question, "yes", f"The second file has no prompt {names}.")
    if parts.same:
        return DiffVerdict(question, "no", "Contract, tokenizer and graph are the same.")
    tokens, graphs, files = stages
    if not files.differing:
        return DiffVerdict(question, "no", _same(files))
    because = f"{_sentence('; '.join(reasons(tokens, graphs, files)))}."
    share = neighbours.together if neighbours else None
    if neighbours is None or share is None:
        return DiffVerdict(question, "yes", because)
    finding = (
        f"Old vectors beside new ones find {percent(share)} of the same neighbours"
        f"{few(neighbours.texts)}"
    )
    if share >= ENOUGH:
        return DiffVerdict(question, "no, for now", f"{finding}; embed again when you next can.")
    return DiffVerdict(question, "yes", f"{finding}. {because}")


def reasons(tokens: StageResult, graphs: StageResult, files: StageResult) -> Iterator[str]:
    """Yield which part the difference comes from; nothing if there is none."""
    if not files.differing:
        return  # such as tokens renumbered together with the rows of their table
    if tokens.differing:
        yield f"the tokenizers give {tokens.differing} of {tokens.texts} texts other ids"
    if graphs.differing or not tokens.differing:
        yield (
            f"the graphs give {graphs.differing} of {graphs.texts} texts other vectors "
            "for the same ids"
        )


def few(texts: int) -> str:
    """Return a word of caution if there are few texts, else nothing."""
    return f" (of {texts} texts, too few to say much: give --texts)" if texts < FEW else ""


def _same(files: StageResult) -> str:
    if files.integers:
        return f"The vectors of {files.texts} texts are the same."
    return (
        f"The vectors of {files.texts} texts are the same within {files.tolerance.max_abs:g} "
        f"of an element and {files.tolerance.one_minus_cosine:g} of 1 - cosine."
    )


def percent(share: float) -> str:
    """Return text such as ``97.4 %``; never 100 % for a smaller share."""
    return "100 %" if share == 1 else f"{min(100 * share, 99.99):.4g} %"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
