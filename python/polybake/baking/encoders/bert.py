"""BERT and its line: RoBERTa, ELECTRA, DistilBERT, ALBERT and MPNet.

Source: transformers ``BertModel``, ``RobertaModel``, ``ElectraModel``, ``DistilBertModel``,
``AlbertModel`` and ``MPNetModel``, without poolers.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.encoder_config import MOST_LAYERS

#: The names of embeddings and layers, which other architectures share.
EMBEDDINGS = {
    "tokens": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
}
NAMES = EMBEDDINGS | {
    "layer": "encoder.layer.{}",
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "after_attention": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "down": "output.dense",
    "after_feed_forward": "output.LayerNorm",
}
#: Buffers that old checkpoints hold.
BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
HEADS = ("pooler.", "cls.", "classifier.", "qa_outputs.", *BUFFERS)

DISTILBERT = EMBEDDINGS | {
    "layer": "transformer.layer.{}",
    "query": "attention.q_lin",
    "key": "attention.k_lin",
    "value": "attention.v_lin",
    "output": "attention.out_lin",
    "after_attention": "sa_layer_norm",
    "widen": "ffn.lin1",
    "down": "ffn.lin2",
    "after_feed_forward": "output_layer_norm",
}
ALBERT = EMBEDDINGS | {
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
MPNET = NAMES | {
    "relative_bias": "encoder.relative_attention_bias",
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "output": "attention.attn.o",
    "after_attention": "attention.LayerNorm",
}


def bert(config: EncoderConfig) -> Options:
    """BERT's configuration."""
    config.only("position_embedding_type", "absolute")
    config.only("add_cross_attention", False)
    return replace(
        config.sizes(),
        positions=config.size("max_position_embeddings"),
        token_types=config.size("type_vocab_size", default=2),
        takes_types=True,
        epsilon=config.epsilon("layer_norm_eps", default=1e-12),
        activation=config.activation(),
        transformers_states=True,
    )


def roberta(config: EncoderConfig) -> Options:
    """RoBERTa's configuration."""
    return replace(bert(config), padding_id=config.count("pad_token_id", default=1))


def electra(config: EncoderConfig) -> Options:
    """ELECTRA's configuration; embeddings of the layers' size are not projected."""
    options, size = bert(config), config.size("embedding_size", default=128)
    return replace(options, embedding_size=None if size == options.hidden_size else size)


def distilbert(config: EncoderConfig) -> Options:
    """DistilBERT's configuration."""
    # Positions are weights of the checkpoint, whatever they began as.
    config.pass_over("sinusoidal_pos_embds", "tie_weights_")
    return replace(
        config.sizes(
            hidden_size=("dim",),
            num_layers=("n_layers",),
            heads=("n_heads",),
            intermediate_size=("hidden_dim",),
        ),
        positions=config.size("max_position_embeddings"),
        activation=config.activation("activation"),
        transformers_states=True,
    )


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


def mpnet(config: EncoderConfig) -> Options:
    """MPNet's configuration; padding and furthest distance are constants of transformers' code."""
    # MPNet's own attention reads neither.
    config.pass_over("is_causal", "add_cross_attention")
    config.only("relative_attention_num_buckets", 32)
    options = bert(config)
    return replace(options, padding_id=1, token_types=0, takes_types=False, distance_bias=(32, 128))


ROBERTA = Architecture(roberta, NAMES, "roberta.", (*HEADS, "lm_head."))
ARCHITECTURES = {
    "albert": Architecture(
        albert,
        ALBERT,
        "albert.",
        (
            *("pooler.", "predictions.", "sop_classifier.", "classifier.", "qa_outputs."),
            *BUFFERS,
        ),
    ),
    "bert": Architecture(bert, NAMES, "bert.", HEADS),
    "camembert": ROBERTA,
    "distilbert": Architecture(
        distilbert,
        DISTILBERT,
        "distilbert.",
        (
            *("vocab_transform.", "vocab_layer_norm.", "vocab_projector.", "pre_classifier."),
            *("classifier.", "qa_outputs.", "embeddings.position_ids"),
        ),
    ),
    "electra": Architecture(
        electra,
        NAMES | {"embedding_projection": "embeddings_project"},
        "electra.",
        (
            *("discriminator_predictions.", "generator_predictions.", "generator_lm_head."),
            *("classifier.", "qa_outputs.", *BUFFERS),
        ),
    ),
    "mpnet": Architecture(
        mpnet,
        MPNET,
        "mpnet.",
        ("pooler.", "lm_head.", "classifier.", "qa_outputs.", "embeddings.position_ids"),
    ),
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
}
