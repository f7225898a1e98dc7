"""DistilBERT: a BERT without token types, under names of its own.

Source: transformers ``DistilBertModel``.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.bert import EMBEDDINGS
from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.options import Options


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


NAMES = EMBEDDINGS | {
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
IGNORED = (
    *("vocab_transform.", "vocab_layer_norm.", "vocab_projector.", "pre_classifier."),
    *("classifier.", "qa_outputs.", "embeddings.position_ids"),
)
ARCHITECTURES = {"distilbert": Architecture(distilbert, NAMES, "distilbert.", IGNORED)}
