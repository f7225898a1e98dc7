"""The tokens that tokenizer_config.json wants before and behind each text."""

from tokenizers import Tokenizer

from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig

_REMEDY = (
    "save the tokenizer again with transformers 4, whose tokenizer.json then does so, or set "
    "{key} to false to leave the token out"
)


def check_added_edges(config: TokenizerConfig, tokenizer: Tokenizer) -> None:
    """Compare ``add_bos_token`` and ``add_eos_token`` with tokenizer.json's post-processor.

    transformers 4 obeys them in tokenizers of Llama's line; elsewhere a model's own code does.
    transformers 5 ignores them beside a tokenizer.json. A token that is not named is not added.

    Raises:
        InputError: A key is true, and tokenizer.json does not put its token there.

    Source: transformers ``LlamaTokenizerFast.update_post_processor`` of version 4.
    """
    tokens = tokenizer.encode("a").tokens
    for key, edge, place in (("add_bos_token", "bos_token", 0), ("add_eos_token", "eos_token", -1)):
        content = config.token(edge)
        if getattr(config, key) and content is not None and tokens[place:][:1] != [content]:
            raise config.refused(
                key, f"false, as tokenizer.json adds no {content!r}", _REMEDY.format(key=key)
            )
