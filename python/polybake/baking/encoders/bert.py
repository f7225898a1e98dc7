"""BERT, and RoBERTa, XLM-RoBERTa and CamemBERT, whose positions skip padding.

Source: transformers ``BertModel`` and ``RobertaModel``, without poolers.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.options import Options

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


ROBERTA = Architecture(roberta, NAMES, "roberta.", (*HEADS, "lm_head."))
ARCHITECTURES = {
    "bert": Architecture(bert, NAMES, "bert.", HEADS),
    "camembert": ROBERTA,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
}
