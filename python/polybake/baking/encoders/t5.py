"""T5's encoder: unscaled attention with a relative bias, normalised before each block.

Source: transformers ``T5EncoderModel``.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field, TypeAdapter

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.encoder_config import HiddenAct
from polybake.baking.layers.norms import RMSNorm

_BUCKETS: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=4, le=4096, strict=True)])
_OPTIONAL_ACT: TypeAdapter[str | None] = TypeAdapter(HiddenAct | None)

#: ``feed_forward_proj`` to our name of its activation.
_PLAIN = {"relu": "relu", "gelu": "gelu", "gelu_new": "gelu_tanh", "silu": "silu"}
#: Gated, ``gelu`` is the approximation: T5 v1.1 was trained so.
_GATED = {"gated-gelu": "gelu_tanh", "gated-relu": "relu", "gated-silu": "silu"}


def t5(config: EncoderConfig) -> Options:
    """T5's configuration; its keys have names of their own."""
    # The decoder's, and a length that no table has.
    config.pass_over("is_encoder_decoder", "num_decoder_layers", "scale_decoder_outputs")
    config.pass_over("n_positions")
    kind = config.choice((*_PLAIN, *_GATED), "feed_forward_proj", default="relu")
    gated, act = kind in _GATED, (_PLAIN | _GATED)[kind]
    # transformers writes these beside feed_forward_proj, and obeys them where they differ.
    if config.value(_OPTIONAL_ACT, "dense_act_fn", default=None) not in (None, act):
        raise config.refused(f"dense_act_fn: should agree with feed_forward_proj {kind!r}")
    if config.optional_flag("is_gated_act") not in (None, gated):
        raise config.refused(f"is_gated_act: should agree with feed_forward_proj {kind!r}")
    buckets = config.value(_BUCKETS, "relative_attention_num_buckets", default=32)
    furthest = config.size("relative_attention_max_distance", default=128, at_most=2**20)
    if furthest <= buckets // 4:
        raise config.refused(
            f"relative_attention_max_distance {furthest} leaves no distance for the wider half of "
            "the buckets"
        )
    return replace(
        config.sizes(
            hidden_size=("d_model",),
            num_layers=("num_layers",),
            heads=("num_heads",),
            head_size=config.size("d_kv"),
            intermediate_size=("d_ff",),
        ),
        activation=act,
        gated=gated,
        epsilon=config.epsilon("layer_norm_epsilon", default=1e-6),
        norm=RMSNorm,
        norms="before",
        biases=frozenset(),
        scale=1.0,
        distance_bias=(buckets, furthest),
    )


NAMES = {
    "tokens": "shared",
    "relative_bias": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "layer": "encoder.block.{}",
    "before_attention": "layer.0.layer_norm",
    "query": "layer.0.SelfAttention.q",
    "key": "layer.0.SelfAttention.k",
    "value": "layer.0.SelfAttention.v",
    "output": "layer.0.SelfAttention.o",
    "before_feed_forward": "layer.1.layer_norm",
    "widen": "layer.1.DenseReluDense.wi",
    "gate": "layer.1.DenseReluDense.wi_0",
    "up": "layer.1.DenseReluDense.wi_1",
    "down": "layer.1.DenseReluDense.wo",
    "final_norm": "encoder.final_layer_norm",
}
#: ``encoder.embed_tokens`` is ``shared`` once more.
IGNORED = (
    *("decoder.", "lm_head.", "encoder.embed_tokens."),
    *("classification_head.", "classifier.", "qa_outputs."),
)
ARCHITECTURES = {"t5": Architecture(t5, NAMES, ignored=IGNORED)}
