"""The tokenizer of a static embedding: no special tokens, and no limit but tokenizer.json's own."""

from __future__ import annotations

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.tokenization.tokenizer import NO_LIMIT, BakedTokenizer, made_tokenizer

#: Any row of the table: padding is masked.
_PAD_ID = 0


def bake_static_tokenizer(
    folder: ModelFolder, data: dict[str, object], *, rows: int
) -> BakedTokenizer:
    """Bake what a static embedding does with its tokenizer.

    Args:
        folder: The model's, for messages.
        data: The object in tokenizer.json; tokenizer_config.json has no say.
        rows: Ids that the embedding knows.

    Raises:
        InputError: tokenizers cannot read it, or it has ids beyond the rows.

    Source: sentence-transformers ``StaticEmbedding.preprocess``.
    """
    without = {**data, "padding": None, "post_processor": None}
    text, tokenizer = made_tokenizer(folder, without)
    highest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if highest >= rows:
        raise InputError(
            f"{folder.path}: tokenizer.json has the id {highest} and the embedding {rows} rows; "
            "use the tokenizer that was saved with the weights"
        )
    truncation = tokenizer.truncation
    limit = NO_LIMIT if truncation is None else int(truncation["max_length"])
    if limit < 1:
        raise InputError(
            f"{folder.path}: tokenizer.json truncates to {limit} tokens; "
            "set truncation.max_length in it to 1 or more"
        )
    return BakedTokenizer(text, limit, _PAD_ID, "right")
