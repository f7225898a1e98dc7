"""The input by which a model leaves a prompt's tokens out of pooling."""

from __future__ import annotations

from collections.abc import Mapping

from polybake.modelfile.manifest import Input
from polybake.steps import Pool, Route, Step
from polybake.tokenization.tokenizer import BakedTokenizer

#: The graph's input, int64 ``[1]``.
NAME = "prompt_length"


def excludes_prompt(step: Step) -> bool:
    """Whether a step pools a text without its prompt, and so reads the prompt's length."""
    if isinstance(step, Route):
        return any(excludes_prompt(one) for steps in step.routes.values() for one in steps)
    return isinstance(step, Pool) and not step.include_prompt


def prompt_length_input(prompts: Mapping[str, str], tokenizer: BakedTokenizer) -> Input:
    """Say how many tokens each prompt takes, for the contract."""
    lengths = {name: prompt_length(prompt, tokenizer) for name, prompt in prompts.items()}
    return Input(name=NAME, feed="prompt_value", values={"": 0, **lengths})


def prompt_length(prompt: str, tokenizer: BakedTokenizer) -> int:
    """Count the tokens of a prompt alone, without a special token at their end.

    A byte-level tokenizer may join the prompt's last space to the text's first word. The prompt
    alone then has one token more than it takes before a text, and that many are left out.

    Source: sentence-transformers ``Transformer._get_prompt_length``.
    """
    if not prompt:
        return 0
    ids = tokenizer.encode([prompt])[0]
    ends_specially = bool(ids) and ids[-1] in tokenizer.special_ids
    return len(ids) - ends_specially
