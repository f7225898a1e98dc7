"""The tokens before, between and behind texts."""

from collections.abc import Sequence

from tokenizers import Tokenizer, processors

from polybake.baking.sources.tokenizer_files.asked import Asked


def identified(made: Tokenizer, token: str) -> tuple[str, int]:
    """A token and its id in the tokenizer, which has it.

    Raises:
        LookupError: It has not.
    """
    number = made.token_to_id(token)
    if number is None:
        raise LookupError(f"no id for {token!r}")
    return token, number


def template(
    made: Tokenizer, single: Sequence[str], pair: Sequence[str], tokens: Sequence[str]
) -> processors.TemplateProcessing:
    """The template of one text and of two.

    Args:
        made: The tokenizer, which has ids for ``tokens``.
        single: Tokens and ``$A``, each with ``:`` and its type unless that is 0.
        pair: The same with ``$B``.
        tokens: The tokens.
    """
    ids = [identified(made, token) for token in dict.fromkeys(tokens)]
    return processors.TemplateProcessing(single=[*single], pair=[*pair], special_tokens=ids)


def asked_edges(asked: Asked, made: Tokenizer) -> processors.TemplateProcessing:
    """The template that ``add_bos_token`` and ``add_eos_token`` ask for; neither is the default.

    Source: transformers ``TokenizersBackend.update_post_processor``.
    """
    named = (asked.named[f"{edge}_token"] for edge in ("bos", "eos"))
    wanted = (asked.config.flag(f"add_{edge}_token", default=False) for edge in ("bos", "eos"))
    before, behind = (
        [token.content] if token is not None and is_wanted else []
        for token, is_wanted in zip(named, wanted, strict=True)
    )
    first, second = (
        [f"{piece}:{number}" for piece in (*before, text, *behind)]
        for number, text in enumerate(("$A", "$B"))
    )
    return template(made, first, [*first, *second], [*before, *behind])
