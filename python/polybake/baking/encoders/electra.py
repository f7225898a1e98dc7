"""ELECTRA: BERT with embeddings of another size than its layers.

Source: transformers ``ElectraModel``.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.bert import BUFFERS, NAMES, bert
from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.options import Options


def electra(config: EncoderConfig) -> Options:
    """ELECTRA's configuration; embeddings of the layers' size are not projected."""
    options, size = bert(config), config.size("embedding_size", default=128)
    return replace(options, embedding_size=None if size == options.hidden_size else size)


ARCHITECTURES = {
    "electra": Architecture(
        electra,
        NAMES | {"embedding_projection": "embeddings_project"},
        "electra.",
        (
            *("discriminator_predictions.", "generator_predictions.", "generator_lm_head."),
            *("classifier.", "qa_outputs.", *BUFFERS),
        ),
    )
}
