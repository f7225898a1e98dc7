"""ELECTRA: BERT with embeddings of another size than its layers.

Source: transformers ``ElectraModel``, in evaluation.
"""

from typing import ClassVar

from onnxscript import OpBuilder, ir

from polybake.baking.encoders.architecture import Size
from polybake.baking.encoders.bert import Bert, BertConfig, Embeddings
from polybake.baking.layers.linear import Linear


class ElectraConfig(BertConfig):
    """ELECTRA's configuration."""

    embedding_size: Size = 128


class Electra(Bert):
    """The whole encoder; embeddings are projected where their size differs."""

    Config: ClassVar[type[ElectraConfig]] = ElectraConfig
    prefix: ClassVar[str] = "electra."
    ignored: ClassVar[tuple[str, ...]] = (
        "discriminator_predictions.",
        "generator_predictions.",
        "generator_lm_head.",
        "classifier.",
        "qa_outputs.",
        "embeddings.position_ids",
        "embeddings.token_type_ids",
    )

    def __init__(self, config: ElectraConfig) -> None:
        super().__init__(config)
        size = config.embedding_size
        self.embeddings = Embeddings(config, size)
        self.embeddings_project = (
            Linear(size, config.hidden_size) if size != config.hidden_size else None
        )

    def embed(
        self, op: OpBuilder, input_ids: ir.Value, token_type_ids: ir.Value | None = None
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        x = super().embed(op, input_ids, token_type_ids)
        return x if self.embeddings_project is None else self.embeddings_project(op, x)
