"""RoBERTa, XLM-RoBERTa and CamemBERT: BERT with positions that skip padding.

Source: transformers ``RobertaModel``, without pooler, in evaluation.
"""

from typing import Annotated, ClassVar

from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.encoders.bert import Bert, BertConfig, Embeddings
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.positions import positions_after_padding


class RobertaConfig(BertConfig):
    """RoBERTa's configuration."""

    pad_token_id: Annotated[int, Field(ge=0, strict=True)] = 1


class RobertaEmbeddings(Embeddings):
    """BERT's embeddings with positions from padding id + 1."""

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__(config, config.hidden_size)
        self.padding_id = config.pad_token_id
        self.position_embeddings = Embedding(config.max_position_embeddings, config.hidden_size)

    def places(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Embeddings of places from padding id + 1: float32 ``[batch, sequence, size]``."""
        counted = positions_after_padding(op, input_ids, self.padding_id)
        return self.position_embeddings(op, counted)


class Roberta(Bert):
    """The whole encoder; every token is of type 0."""

    Config: ClassVar[type[RobertaConfig]] = RobertaConfig
    prefix: ClassVar[str] = "roberta."
    typed: ClassVar[bool] = True
    ignored: ClassVar[tuple[str, ...]] = (*Bert.ignored, "lm_head.")

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__(config)
        self.embeddings = RobertaEmbeddings(config)
