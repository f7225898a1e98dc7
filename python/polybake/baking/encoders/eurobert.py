"""EuroBERT: Llama's layers, whose tokens attend to both sides.

Source: transformers ``EuroBertModel``.
"""

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.decoder import NAMES, decoder
from polybake.baking.encoders.options import Options


def eurobert(config: EncoderConfig) -> Options:
    """EuroBERT's configuration."""
    # What a head pools, and the texts of tokens.
    config.pass_over("classifier_pooling", "clf_pooling")
    config.pass_over("bos_token", "eos_token", "mask_token", "pad_token")
    config.only("mlp_bias", False)
    return config.one_theta(decoder(config, epsilon=1e-5, groups=False), 10_000.0)


HEADS = ("lm_head.", "dense.", "classifier.")
ARCHITECTURES = {"eurobert": Architecture(eurobert, NAMES, "model.", HEADS, own_code=("EuroBert",))}
