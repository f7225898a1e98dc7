"""Where the words of a tokenizer end."""

from typing import Literal, NamedTuple

from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.tokenizer_json import Component, TokenizerJson

#: Where a word ends besides at gaps: nowhere, before a token without the prefix of a continuation,
#: or where GPT-2's pre-tokenizer splits.
Rule = Literal["gaps", "continuation", "gpt2"]


class WordRule(NamedTuple):
    """Where the words of a text end.

    Attributes:
        words: The rule.
        continuation: What a token begins with that continues a word; empty where none does.
        composed: Whether GPT-2's pre-tokenizer sees letters composed with their accents.
    """

    words: Rule
    continuation: str = ""
    composed: bool = False


def word_rule(tokenizer: BakedTokenizer, *, finest: bool) -> WordRule:
    """Where the words of a tokenizer end.

    Args:
        tokenizer: Of a model.
        finest: Where its pre-tokenizer splits; else as a person who tags would, at gaps.

    Source: transformers ``TokenClassificationPipeline.gather_pre_entities``, whose words end at
    gaps where a tokenizer has no such prefix; ``QuestionAnsweringPipeline.get_indices``, whose
    words are the tokenizer's.
    """
    data = TokenizerJson.model_validate_json(tokenizer.json)
    prefix = data.model.get("continuing_subword_prefix")
    if prefix:
        return WordRule("continuation", str(prefix))
    (*others, last) = data.parts("pre_tokenizer") or [Component()]
    splits = not others and last.type == "ByteLevel" and bool(last.get("use_regex", True))
    normalizers = [part.type for part in data.parts("normalizer")]
    if finest and splits and normalizers in ([], ["NFC"]):
        return WordRule("gpt2", composed=bool(normalizers))
    return WordRule("gaps")
