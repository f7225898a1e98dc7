"""The keys of config.json that any model may have, and how many tokens its positions hold."""

from typing import Self

from pydantic import Field

from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

#: The model_types whose positions start after the padding id; others start at 0.
#: Source: transformers ``create_position_ids_from_input_ids``.
COUNT_BEHIND_PADDING = (
    *("camembert", "data2vec-text", "ibert", "longformer", "luke", "mpnet", "roberta"),
    *("roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)

#: The rows of models that do not say how many they have.
_ROWS = {"clip": 77, "clip_text_model": 77, "gpt2": 1024}


class _TextConfig(JsonModel):
    """The text tower of a model of texts and pictures."""

    max_position_embeddings: int | None = None


class ModelConfig(JsonModel):
    """The keys of config.json that do not belong to one architecture."""

    model_type: str | None = None
    architectures: tuple[str, ...] | None = Field(default=None, strict=False)
    tokenizer_class: str | None = None
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None
    output_hidden_states: bool = False
    #: A key of model2vec.
    embedding_dtype: str | None = None
    text_config: _TextConfig | None = None
    position_embedding_type: object = None
    #: GPT-2's name of the rows.
    n_positions: int | None = None

    @classmethod
    def of(cls, folder: ModelFolder) -> Self:
        """Read the keys in ``folder``; all are missing where it has no config.json."""
        return folder.read("config.json", cls)

    @property
    def position_rows(self) -> int | None:
        """The rows of the table of positions; None without a table, which XLNet writes as -1."""
        rows = self.max_position_embeddings
        if rows is None and self.text_config is not None:
            rows = self.text_config.max_position_embeddings
        if rows is None and self.model_type == "gpt2":
            rows = self.n_positions
        return _ROWS.get(self.model_type or "") if rows is None else None if rows == -1 else rows

    @property
    def tokens_held(self) -> int | None:
        """The tokens of the longest text that the table has positions for.

        RoBERTa's 514 rows hold 512 tokens: the first is at position 2. sentence-transformers takes
        all 514 for its limit and fails at a text of 513.
        """
        rows = self.position_rows
        turned = self.position_embedding_type == "rotary"
        if rows is None or turned or self.model_type not in COUNT_BEHIND_PADDING:
            return rows
        return rows - (1 if self.pad_token_id is None else self.pad_token_id) - 1
