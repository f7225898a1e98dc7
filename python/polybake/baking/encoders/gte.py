"""GTE: BERT with rotary positions and a gated feed-forward block, normalised after each block.

The first checkpoints call themselves ``new`` and bring their own code; those of transformers are
``gte`` and name the same weights alike. Only ``new`` has NTK scaling.

Source: transformers ``GteModel``; ``NewModel`` of the checkpoints' own code.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.options import DOWN, INPUTS, OUTPUT
from polybake.baking.layers.rotary import frequencies


def _options(config: EncoderConfig) -> Options:
    """The common configuration of ``gte`` and ``new``."""
    config.only("layer_norm_type", "layer_norm")
    config.only("position_embedding_type", "rope")
    config.only("pack_qkv", True)
    config.only("logn_attention_scale", False)
    return replace(
        config.rotary_sizes(),
        token_types=config.count("type_vocab_size", default=1),
        takes_types=True,
        epsilon=config.epsilon("layer_norm_eps", default=1e-12),
        activation=config.activation(),
        gated=True,
        biases=INPUTS | OUTPUT | DOWN,
    )


def gte(config: EncoderConfig) -> Options:
    """The configuration of ``gte``."""
    return config.one_theta(_options(config), 160_000.0)


def new(config: EncoderConfig) -> Options:
    """The configuration of ``new``, whose positions may have fixed NTK scaling."""
    options, factor = _options(config), 1.0
    theta = config.number("rope_theta", default=10_000.0, above=0)
    config.only("rope_parameters", None)
    scaling = config.inner("rope_scaling")
    if scaling is not None:
        scaling.choice(("ntk",), "type", "rope_type")
        scaling.only("mixed_b", None)
        factor = scaling.number("factor", low=1)
    return config.turned(options, frequencies(options.head_size, theta, ntk=factor))


NAMES = {
    "tokens": "embeddings.word_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
    "layer": "encoder.layer.{}",
    "qkv": "attention.qkv_proj",
    "output": "attention.o_proj",
    "after_attention": "attn_ln",
    "up_gate": "mlp.up_gate_proj",
    "down": "mlp.down_proj",
    "after_feed_forward": "mlp_ln",
}
#: Whichever of the two prefixes the checkpoint has, transformers loads it.
PREFIX = ("gte.", "new.")
HEADS = ("pooler.", "lm_head.", "classifier.", "qa_outputs.")
ARCHITECTURES = {
    "gte": Architecture(gte, NAMES, PREFIX, HEADS, own_code=("Gte",)),
    "new": Architecture(new, NAMES, PREFIX, HEADS, own_code=("New",)),
}
