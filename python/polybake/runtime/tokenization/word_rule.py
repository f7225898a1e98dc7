"""The rule by which a tokenizer's words end."""

from typing import Literal, NamedTuple

from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.tokenizer_json import Component, TokenizerJson

#: A word ends at gaps. It may also end before a token without the prefix of a continuation, or
#: where GPT-2's pre-tokenizer splits.
Rule = Literal["gaps", "continuation", "gpt2"]


class WordRule(NamedTuple):
    """The rule by which the words of a text end.

    Attributes:
        words: The rule.
        continuation: The prefix of tokens that continue a word; empty without such a prefix.
        composed: Whether GPT-2's pre-tokenizer sees letters composed with their accents.
    """

    words: Rule
    continuation: str = ""
    composed: bool = False


def word_rule(tokenizer: BakedTokenizer, *, finest: bool) -> WordRule:
    """Return the rule by which a tokenizer's words end.

    Args:
        tokenizer: A model's tokenizer.
        finest: Whether words end where its pre-tokenizer splits; else at gaps, as a person
            who tags would split.

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
