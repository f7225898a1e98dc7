"""RoBERTa, XLM-RoBERTa and CamemBERT: BERT with positions that skip padding.

Source: transformers ``RobertaModel``, without pooler, in evaluation.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.encoders.bert import Bert, BertConfig, Embeddings
from polybake.layers.positions import positions_after_padding
from polybake.modelfile.manifest import Feed


class RobertaConfig(BertConfig):
    """RoBERTa's configuration."""

    pad_token_id: Annotated[int, Field(ge=0, strict=True)] = 1


class RobertaEmbeddings(Embeddings):
    """BERT's embeddings with positions from padding id + 1."""

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__(config, config.hidden_size)
        self.padding_id = config.pad_token_id

    def positions(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Count from padding id + 1, without padding: int64 ``[batch, sequence]``."""
        return positions_after_padding(op, input_ids, self.padding_id)


class Roberta(Bert):
    """The whole encoder; every token is of type 0."""

    Config: ClassVar[type[RobertaConfig]] = RobertaConfig
    feeds: ClassVar[tuple[Feed, ...]] = ("input_ids", "attention_mask")
    prefix: ClassVar[str] = "roberta."
    ignored: ClassVar[tuple[str, ...]] = (*Bert.ignored, "lm_head.")

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__(config)
        self.embeddings = RobertaEmbeddings(config)
