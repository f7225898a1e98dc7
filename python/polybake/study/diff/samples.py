"""The texts that two model files are compared on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources

import numpy as np

from polybake.base.modelfile.fixture import Case, Text, decode_slack
from polybake.base.modelfile.tolerance import Slack
from polybake.runtime.prompt import Prompt
from polybake.study.diff.parts import ModelParts
from polybake.study.diff.search_vectors import Role

#: The most texts of a sample: 30 MB for a sparse model, whose vectors are the longest.
LONGEST = 256


@dataclass(frozen=True)
class Sample:
    """Texts with one prompt, at most `LONGEST`.

    Attributes:
        prompt: The prompt, for both files.
        texts: The texts or pairs that the files' task takes.
        slacks: How far the integers of each text may differ; empty if that is unknown.
        roles: The roles of the texts in the search for neighbours; empty if they take no part.
    """

    prompt: Prompt
    texts: Sequence[Text] = field(repr=False)
    slacks: Sequence[Slack] = field(default=(), repr=False)
    roles: Sequence[Role] = ()


def golden_samples(parts: ModelParts) -> Iterator[Sample]:
    """Yield the texts of both files' golden cases once, with prompts that both files have."""
    keys = set()
    prompts = [head.manifest.contract.prompts for head in (parts.before, parts.after)]
    for head in (parts.before, parts.after):
        for case in head.fixture.cases:
            key = case.prompt, case.texts
            shared = case.prompt is None or all(case.prompt in names for names in prompts)
            if key not in keys and shared:
                keys.add(key)
                yield from _cut(Prompt(case.prompt), case.texts, _slacks(case), ())


def search_samples(
    parts: ModelParts, windows: Iterable[Sequence[str]], prompt: str | None = None
) -> Iterator[Sample]:
    """Yield texts as documents and as queries; twice only if their prompts differ.

    Without a prompt for all texts, `_roles` finds theirs.
    """
    prompts = _roles(parts) if prompt is None else [(Prompt(prompt), _BOTH)]
    for texts in windows:
        for role_prompt, roles in prompts:
            yield from _cut(role_prompt, texts, (), roles if parts.searchable else ())


def built_in_texts(parts: ModelParts) -> Iterator[Sequence[str]]:
    """Yield two hundred sentences on ten subjects, and the golden texts of both files."""
    sentences = resources.files(__package__).joinpath("sentences.txt").read_text("ascii")
    golden = (
        text
        for head in (parts.before, parts.after)
        for case in head.fixture.cases
        for text in case.texts
    )
    texts = [text for text in (*sentences.splitlines(), *golden) if isinstance(text, str)]
    yield [*dict.fromkeys(text for text in texts if text.strip())]


_BOTH: tuple[Role, Role] = ("document", "query")


def _roles(parts: ModelParts) -> list[tuple[Prompt, Sequence[Role]]]:
    """Choose prompts like the clients' ``embed_documents`` and ``embed_queries``.

    If the files' default prompts differ, take those, as ``embed`` then gives different vectors.
    """
    contracts = [head.manifest.contract for head in (parts.before, parts.after)]
    defaults = {contract.prompts.get(contract.default_prompt or "", "") for contract in contracts}
    if len(defaults) > 1:
        return [(Prompt(), _BOTH)]
    names = [
        [Prompt(role=role).contract(side).default_prompt for side in contracts] for role in _BOTH
    ]
    if names[0] == names[1]:
        return [(Prompt(role="document"), _BOTH)]
    return [(Prompt(role=role), [role]) for role in _BOTH]


def _cut(
    prompt: Prompt, texts: Sequence[Text], slacks: Sequence[Slack], roles: Sequence[Role]
) -> Iterator[Sample]:
    for start in range(0, len(texts), LONGEST):
        part = slice(start, start + LONGEST)
        yield Sample(prompt, texts[part], slacks[part], roles)


def _slacks(case: Case) -> list[Slack]:
    """Return a slack for each text; empty if texts have several vectors or vectors are float32."""
    slack = decode_slack(case.embeddings)
    if slack is None or len(slack.values) != len(case.texts):
        return []
    return [Slack(row[np.newaxis], slack.packed_bits) for row in slack.values]
