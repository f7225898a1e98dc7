"""The prompts of a bake: their texts, and the values that they feed to the graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polybake.baking.sources.source import Source
from polybake.baking.steps import Step
from polybake.base.modelfile.manifest import Input
from polybake.errors import InputError

#: Characters of a prompt and its name.
_LONGEST = 32_768


@dataclass(frozen=True)
class Prompts:
    """The prompts that clients may put before a text.

    Attributes:
        texts: The prompts' texts, by name.
        default: The name of the prompt for calls without a prompt.
        inputs: The inputs that the graph is fed for each prompt, beside the tokens.
    """

    texts: Mapping[str, str]
    default: str | None
    inputs: tuple[Input, ...]


def bake_prompts(
    source: Source, steps: Sequence[Step], texts: Mapping[str, str] | None, default: str | None
) -> Prompts:
    """Choose the prompts, and ask the steps which inputs they read."""
    if source.rendered and texts is not None:
        if texts != source.prompts:
            raise InputError(
                "prompts: the model's chat template writes them; leave prompts out, and change "
                "those of config_sentence_transformers.json"
            )
        texts = None
    prompts = dict(source.prompts if texts is None else texts)
    if "" in prompts:
        raise InputError(
            f"prompts: {prompts['']!r} has the empty name, which no call can ask for; name it"
        )
    for name, text in prompts.items():
        if len(name) + len(text) > _LONGEST:
            raise InputError(
                f"prompts: {name[:40]!r} has {len(text)} characters, expected at most {_LONGEST} "
                "with its name; shorten it, because it is put before every text"
            )
    used = default or (source.default_prompt if texts is None else None)
    if used is not None and used not in prompts:
        raise InputError(
            f"default prompt {used!r} is unknown; choose one of: {', '.join(prompts) or 'none'}"
        )
    routes = _routes(steps)
    numbers = _values(source, steps, prompts).get("route", {})
    reached = {numbers[name] for name in prompts} if routes else set()
    prompts |= {route: "" for number, route in enumerate(routes) if number not in reached}
    values = _values(source, steps, prompts)
    if used is not None and routes and numbers[used] != numbers[""]:
        own, other = routes[numbers[used]], routes[numbers[""]]
        raise InputError(
            f"default prompt {used!r} takes route {own!r}, and the default route is {other!r}; "
            "make them one, or name no default prompt"
        )
    inputs = (Input(name=name, feed="prompt_value", values=item) for name, item in values.items())
    return Prompts(prompts, used, tuple(inputs))


def _routes(steps: Sequence[Step]) -> list[str]:
    """Return the names of the routes of the route step, if there is one."""
    groups = [list(step.inner) for step in steps if step.inner]
    if len(groups) > 1:
        raise InputError(f"steps: {len(groups)} are route steps; put their routes into one")
    return groups[0] if groups else []


def _values(
    source: Source, steps: Sequence[Step], texts: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    values: dict[str, dict[str, int]] = {}
    for step in steps:
        values |= step.prompt_values(texts, source.tokenizer.beginning)
    return values
