"""jina-embeddings-v3: XLM-RoBERTa with rotary positions, normalised after each block.

Source: transformers ``JinaEmbeddingsV3Model``, without pooler, in evaluation.
"""

from collections.abc import Mapping
from typing import ClassVar

from polybake.baking.encoders.architecture import Epsilon, HiddenAct, Size
from polybake.baking.encoders.rotary_bert import RotaryBert, RotaryBertConfig
from polybake.baking.encoders.rotary_config import Theta
from polybake.baking.layers.stored_tensor import StoredTensor


class JinaEmbeddingsV3Config(RotaryBertConfig):
    """jina-embeddings-v3's configuration."""

    type_vocab_size: Size = 1
    layer_norm_eps: Epsilon = 1e-5
    hidden_act: HiddenAct = "gelu"
    rope_theta: Theta = 20_000.0


class JinaEmbeddingsV3(RotaryBert):
    """jina-embeddings-v3: token ids to token embeddings."""

    Config: ClassVar[type[JinaEmbeddingsV3Config]] = JinaEmbeddingsV3Config
    prefix: ClassVar[str] = "roberta."
    ignored: ClassVar[tuple[str, ...]] = ("pooler.", "lm_head.", "classifier.", "qa_outputs.")

    def arranged(self, stored: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
        """Name attention as NomicBERT does, where it is a mixer."""
        return {name.replace(".mixer.", ".attn."): tensor for name, tensor in stored.items()}
