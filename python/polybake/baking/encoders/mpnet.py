"""MPNet: BERT's layers with one relative position bias for all, beside absolute positions.

Source: transformers ``MPNetModel``, without pooler.
"""

from dataclasses import replace

from polybake.baking.encoders import bert
from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.options import Options


def mpnet(config: EncoderConfig) -> Options:
    """MPNet's configuration; padding and furthest distance are constants of transformers' code."""
    # MPNet's own attention reads neither.
    config.pass_over("is_causal", "add_cross_attention")
    config.only("relative_attention_num_buckets", 32)
    options = bert.bert(config)
    return replace(options, padding_id=1, token_types=0, takes_types=False, distance_bias=(32, 128))


NAMES = bert.NAMES | {
    "relative_bias": "encoder.relative_attention_bias",
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "output": "attention.attn.o",
    "after_attention": "attention.LayerNorm",
}
IGNORED = ("pooler.", "lm_head.", "classifier.", "qa_outputs.", "embeddings.position_ids")
ARCHITECTURES = {"mpnet": Architecture(mpnet, NAMES, "mpnet.", IGNORED)}
