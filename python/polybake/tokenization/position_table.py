"""How many tokens a model's table of positions has rows for."""

from __future__ import annotations

from collections.abc import Mapping

#: Models whose positions start behind the padding id, where others start at 0, by model_type.
#: Source: transformers ``create_position_ids_from_input_ids``.
COUNT_BEHIND_PADDING = (
    "camembert",
    "data2vec-text",
    "ibert",
    "longformer",
    "luke",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
)


def table_rows(config: Mapping[str, object]) -> int | None:
    """The rows of the table, where config.json has one; XLNet's -1 says that it has none."""
    rows = config.get("max_position_embeddings")
    return rows if isinstance(rows, int) and rows != -1 else None


def tokens_held(config: Mapping[str, object]) -> int | None:
    """The tokens of the longest text that the table has positions for.

    RoBERTa's 514 rows hold 512 tokens: the first is at position 2. sentence-transformers takes all
    514 for its limit and fails at a text of 513.
    """
    rows = table_rows(config)
    if rows is None or config.get("model_type") not in COUNT_BEHIND_PADDING:
        return rows
    padding = config.get("pad_token_id", 1)
    return rows - (padding if isinstance(padding, int) else 1) - 1
