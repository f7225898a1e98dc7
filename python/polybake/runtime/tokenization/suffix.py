"""A suffix that stands behind every text, as ids that a client's tokenizer adds by itself."""

from collections.abc import Iterable
from itertools import takewhile

from polybake.errors import InputError
from polybake.runtime.tokenization.bare_tokenizer import BareTokenizer
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.tokenizer_json import tokens_behind

#: What sentence-transformers finds a suffix by: ``Transformer._chat_template_suffix_ids``.
_FILLERS = ("0", "1 2 3 4")


def with_suffix(baked: BakedTokenizer, prompts: Iterable[str], suffix: str) -> BakedTokenizer:
    """Return the tokenizer that adds a suffix's ids behind texts, and no other special tokens.

    The ids count within the limit, so that a long text loses its end and keeps the suffix.

    Raises:
        InputError: The suffix shares tokens with a text behind one of the prompts, or leaves no
            room for it; or the tokenizer cuts the beginning of texts.
    """
    bare = BareTokenizer(baked)
    ids = bare.ids(suffix)
    for prompt in prompts:
        bare.cuts(prompt, suffix, ends=True)
        ends = zip(*(reversed(bare.ids(prompt + one + suffix)) for one in _FILLERS), strict=False)
        if len([*takewhile(lambda pair: pair[0] == pair[1], ends)]) != len(ids):
            raise InputError(
                "the tokenizer has one token for the ends of 0 and 4, which sentence-transformers "
                "then writes over the ends of cut texts; expected a tokenizer that knows digits"
            )
    if baked.max_length <= len(ids):
        raise InputError(
            f"{len(ids)} tokens stand behind each text, and a row has {baked.max_length}; raise "
            "max_seq_length in sentence_bert_config.json"
        )
    return baked.with_parts(post_processor=tokens_behind([(baked.token(one), one) for one in ids]))
