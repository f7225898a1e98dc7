"""Texts as rows of token ids."""

from collections.abc import Sequence

from tokenizers import Tokenizer

from .contract import PROMPTS


def rows_of(tokenizer: Tokenizer, texts: Sequence[str], prompt: str | None) -> list[list[int]]:
    """Token ids of each text with its prompt, truncated by the tokenizer."""
    prefix = "" if prompt is None else PROMPTS[prompt]
    return [row.ids for row in tokenizer.encode_batch_fast([prefix + text for text in texts])]
