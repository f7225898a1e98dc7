"""EuroBERT: Llama's layers, whose tokens attend to both sides.

Source: transformers ``EuroBertModel``, in evaluation.
"""

from collections.abc import Collection
from typing import ClassVar, Literal

from pydantic import model_validator

from polybake.baking.encoders.architecture import Epsilon
from polybake.baking.encoders.decoder import (
    BiasedConfig,
    Decoder,
    LayersConfig,
    every_head_has_its_own,
)
from polybake.baking.encoders.passed_over import PASSED_OVER


class EuroBertConfig(LayersConfig, BiasedConfig):
    """EuroBERT's configuration."""

    own_code: ClassVar[str | None] = "EuroBert"
    # What a head pools, and the texts of tokens.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("classifier_pooling", "clf_pooling"),
        *("bos_token", "eos_token", "mask_token", "pad_token"),
    }

    rms_norm_eps: Epsilon = 1e-5
    mlp_bias: Literal[False] = False

    _every_head_has_its_own = model_validator(mode="before")(every_head_has_its_own)


class EuroBert(Decoder):
    """EuroBERT: token ids to token embeddings."""

    Config: ClassVar[type[EuroBertConfig]] = EuroBertConfig
    ignored: ClassVar[tuple[str, ...]] = ("lm_head.", "dense.", "classifier.")
