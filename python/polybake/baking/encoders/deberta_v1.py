"""DeBERTa, the first version: DeBERTa-v2's layers with a row for each distance.

Queries, keys and values are one layer, head by head; keys have no bias.

Source: transformers ``DebertaModel``, in evaluation.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from polybake.baking.encoders.deberta import Deberta, DebertaConfig
from polybake.baking.layers.stored_tensor import StoredTensor

#: Ends of names, and what DeBERTa-v2 calls the same.
_RENAMED = {
    "self.q_bias": "self.query_proj.bias",
    "self.v_bias": "self.value_proj.bias",
    "self.pos_proj.weight": "self.pos_key_proj.weight",
    "self.pos_q_proj.weight": "self.pos_query_proj.weight",
    "self.pos_q_proj.bias": "self.pos_query_proj.bias",
}
_FUSED = "self.in_proj.weight"


class DebertaV1Config(DebertaConfig):
    """The configuration of the first version."""

    key_bias: ClassVar[bool] = False

    position_buckets: Literal[-1] = -1
    share_att_key: Literal[False] = False
    norm_rel_ebd: Literal["none"] = "none"


class DebertaV1(Deberta):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[DebertaConfig]] = DebertaV1Config

    def __init__(self, config: DebertaV1Config) -> None:
        super().__init__(config)
        self.heads = config.num_attention_heads
        self.size = config.hidden_size

    def arranged(self, stored: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
        """Split the layer of queries, keys and values, and give all the names of DeBERTa-v2."""
        found: dict[str, StoredTensor] = {}
        for name, tensor in stored.items():
            if name.endswith(_FUSED) and tensor.shape == (3 * self.size, self.size):
                rows = np.arange(3 * self.size).reshape(self.heads, 3, -1)
                for place, part in enumerate(("query", "key", "value")):
                    to = f"{name.removesuffix(_FUSED)}self.{part}_proj.weight"
                    found[to] = tensor.rows(rows[:, place].ravel())
            else:
                end = next((end for end in _RENAMED if name.endswith(end)), "")
                found[name.removesuffix(end) + _RENAMED.get(end, "")] = tensor
        return found
