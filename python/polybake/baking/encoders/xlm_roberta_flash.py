"""jina-embeddings-v3 as it was published: with the adapters of its tasks in the same file.

An adapter adds a product of two narrow matrices to the weight of every table and linear layer.

Source: ``XLMRobertaLoRA`` of jinaai/xlm-roberta-flash-implementation, in evaluation.
"""

import json
from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from polybake.baking.encoders.jina_embeddings_v3 import JinaEmbeddingsV3, JinaEmbeddingsV3Config
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.rotary_config import Theta
from polybake.baking.layers.low_rank import with_product
from polybake.baking.layers.stored_tensor import StoredTensor
from polybake.errors import InputError

#: What PyTorch's parametrization puts behind a layer's name in those of its tensors.
_ORIGINAL = ".parametrizations.weight.original"
_INNER_AND_OUTER = (".parametrizations.weight.0.lora_A", ".parametrizations.weight.0.lora_B")
_TABLES = ("embeddings.word_embeddings", "embeddings.token_type_embeddings")


class XlmRobertaFlashConfig(JinaEmbeddingsV3Config):
    """The configuration, by the keys of the code beside the weights, with its own defaults."""

    own_code: ClassVar[str | None] = "XLMRoberta"
    # How adapters are trained, and which files the code reads them from.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("lora_dropout_p", "lora_main_params_trainable", "load_trained_adapters"),
        "use_reentrant",
    }

    position_embedding_type: Literal["rotary"]
    hidden_act: Literal["gelu"] = "gelu"
    rope_theta: Theta = Field(default=10_000.0, validation_alias="rotary_emb_base")
    rope_parameters: None = None
    rope_scaling: None = None
    lora_adaptations: tuple[str, ...] = ()
    task_instructions: dict[str, str] = Field(default_factory=dict)
    lora_rank: Annotated[int, Field(gt=0, strict=True)] = 4
    lora_alpha: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    #: How the code's own ``encode`` pools and cuts, which sentence-transformers does not call.
    emb_pooler: Literal["mean"] | None = None
    truncate_dim: None = None

    _chosen: int | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _every_adapter_has_its_instruction(self) -> Self:
        if {*self.task_instructions} != {*self.lora_adaptations}:
            raise ValueError("task_instructions has other names than lora_adaptations")
        return self

    @property
    def adapters(self) -> Mapping[str, str]:
        """The prompt of each adapter, by its name."""
        return {name: self.task_instructions[name] for name in self.lora_adaptations}

    @property
    def chosen(self) -> int | None:
        """The place of the adapter that is applied; None: none is."""
        return self._chosen

    @property
    def scale(self) -> float:
        """The factor of an adapter's product."""
        return self.lora_alpha / self.lora_rank

    def adapted(self, adapter: str) -> Self:
        """Return the configuration with one of its adapters applied."""
        if adapter not in self.lora_adaptations:
            known = ", ".join(map(json.dumps, self.lora_adaptations)) or "none, so leave it out"
            raise ValueError(f"has no adapter {json.dumps(adapter)}; known are: {known}")
        found = self.model_copy()
        found._chosen = self.lora_adaptations.index(adapter)
        return found


class XlmRobertaFlash(JinaEmbeddingsV3):
    """jina-embeddings-v3 with one of its adapters, or with none."""

    Config: ClassVar[type[XlmRobertaFlashConfig]] = XlmRobertaFlashConfig

    def __init__(self, config: XlmRobertaFlashConfig) -> None:
        super().__init__(config)
        self.chosen, self.scale = config.chosen, config.scale

    def arranged(self, stored: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
        """Add the adapter's products to the weights, and leave the other adapters out."""
        found = super().arranged(stored)
        for name in [name for name in found if name.endswith(_ORIGINAL)]:
            layer = name.removesuffix(_ORIGINAL)
            weight = found.pop(name)
            inner, outer = (found.pop(f"{layer}{part}", None) for part in _INNER_AND_OUTER)
            if self.chosen is not None and inner is not None and outer is not None:
                # A table's rows are what comes in, a linear layer's what goes out.
                left, right = (inner, outer) if layer in _TABLES else (outer, inner)
                weight = with_product(weight, left, right, place=self.chosen, scale=self.scale)
            elif self.chosen is not None:
                raise InputError(
                    f"{weight.file}: {layer} lacks weights of adapters; download it again"
                )
            found[f"{layer}.weight"] = weight
        if self.chosen is not None and f"{_TABLES[0]}{_ORIGINAL}" not in stored:
            raise InputError(
                f"{next(iter(stored.values())).file}: holds no adapters, though config.json names "
                "some; leave adapter out, or download it again"
            )
        return found
