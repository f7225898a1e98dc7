"""ALBERT: projected embeddings, and layers that share their weights in groups.

Source: transformers ``AlbertModel``, without pooler.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.bert import BUFFERS, EMBEDDINGS, bert
from polybake.baking.encoders.config import MOST_LAYERS, EncoderConfig
from polybake.baking.encoders.options import Options


def albert(config: EncoderConfig) -> Options:
    """ALBERT's configuration; each group is used for an equal run of layers."""
    # The first is a decoder's; transformers reads none of the others, the first checkpoints' own.
    config.pass_over("add_cross_attention")
    config.pass_over("down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks")
    options = bert(config)
    groups = config.size("num_hidden_groups", default=1, at_most=MOST_LAYERS)
    inner = config.size("inner_group_num", default=1, at_most=MOST_LAYERS)
    run = options.num_layers / groups
    used = [int(layer / run) for layer in range(options.num_layers)]
    return replace(
        options,
        activation=config.activation(default="gelu_new"),
        embedding_size=config.size("embedding_size", default=128),
        shared=tuple(group * inner + layer for group in used for layer in range(inner)),
        group_size=inner,
        transformers_states=False,
    )


NAMES = EMBEDDINGS | {
    "embedding_projection": "encoder.embedding_hidden_mapping_in",
    "layer": "encoder.albert_layer_groups.{}.albert_layers.{}",
    "query": "attention.query",
    "key": "attention.key",
    "value": "attention.value",
    "output": "attention.dense",
    "after_attention": "attention.LayerNorm",
    "widen": "ffn",
    "down": "ffn_output",
    "after_feed_forward": "full_layer_layer_norm",
}
HEADS = ("pooler.", "predictions.", "sop_classifier.", "classifier.", "qa_outputs.")
ARCHITECTURES = {"albert": Architecture(albert, NAMES, "albert.", (*HEADS, *BUFFERS))}
