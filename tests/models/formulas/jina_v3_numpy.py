"""jina-embeddings-v3 with the adapters of its tasks, as it was published."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.formulas.rotary_numpy import (
    HIDDEN,
    LAYERS,
    SIZES,
    WIDE,
    Floats,
    Weights,
    weights_of,
)

THETA, RANK, ALPHA = 50.0, 2, 3
TASKS = {"retrieval.query": "query: ", "retrieval.passage": "passage: ", "separation": ""}
CODE = "jinaai/xlm-roberta-flash-implementation--"
CONFIG: dict[str, Any] = SIZES | {
    "model_type": "xlm-roberta",
    "architectures": ["XLMRobertaLoRA"],
    "auto_map": {
        "AutoConfig": f"{CODE}configuration_xlm_roberta.XLMRobertaFlashConfig",
        "AutoModel": f"{CODE}modeling_lora.XLMRobertaLoRA",
    },
    "position_embedding_type": "rotary",
    "rotary_emb_base": THETA,
    "type_vocab_size": 1,
    "layer_norm_eps": 1e-5,
    "hidden_act": "gelu",
    "load_trained_adapters": True,
    "lora_adaptations": [*TASKS],
    "task_instructions": TASKS,
    "lora_rank": RANK,
    "lora_alpha": ALPHA,
    "lora_dropout_p": 0.0,
    "lora_main_params_trainable": False,
    "use_flash_attn": True,
    "truncate_dim": None,
}
_TABLES = ("embeddings.word_embeddings", "embeddings.token_type_embeddings")


def _adapted_sizes() -> dict[str, tuple[int, int]]:
    """The weights that adapters change."""
    sizes = dict(zip(_TABLES, [(SIZES["vocab_size"], HIDDEN), (1, HIDDEN)], strict=True))
    for number in range(LAYERS):
        layer = f"encoder.layers.{number}"
        sizes |= {
            f"{layer}.mixer.Wqkv": (3 * HIDDEN, HIDDEN),
            f"{layer}.mixer.out_proj": (HIDDEN, HIDDEN),
            f"{layer}.mlp.fc1": (WIDE, HIDDEN),
            f"{layer}.mlp.fc2": (HIDDEN, WIDE),
        }
    return sizes | {"pooler.dense": (HIDDEN, HIDDEN)}


def weights() -> dict[str, Floats]:
    """A published checkpoint."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (rows, columns) in _adapted_sizes().items():
        table = name in _TABLES
        shapes |= {
            f"{name}.parametrizations.weight.original": (rows, columns),
            f"{name}.parametrizations.weight.0.lora_A": (
                len(TASKS),
                *((rows, RANK) if table else (RANK, columns)),
            ),
            f"{name}.parametrizations.weight.0.lora_B": (
                len(TASKS),
                *((RANK, columns) if table else (rows, RANK)),
            ),
        }
        shapes |= {} if table else {f"{name}.bias": (rows,)}
    norms = [f"encoder.layers.{i}.{norm}" for i in range(LAYERS) for norm in ("norm1", "norm2")]
    shapes |= {
        f"{norm}.{part}": (HIDDEN,) for norm in ("emb_ln", *norms) for part in ("weight", "bias")
    }
    drawn = {
        name: array + np.float32(".norm" in name and name.endswith(".weight"))
        for name, array in weights_of(shapes).items()
    }
    return {f"roberta.{name}": array for name, array in drawn.items()}


def merged(stored: Weights, task: str | None) -> dict[str, Floats]:
    """The weights of transformers' class: each with the product of one adapter, or of none.

    Source: ``LoRAParametrization.lora_forward``.
    """
    bare = {name.removeprefix("roberta."): array for name, array in stored.items()}
    found = {name: array for name, array in bare.items() if ".parametrizations." not in name}
    for name in _adapted_sizes():
        parts = f"{name}.parametrizations.weight"
        found[f"{name}.weight"] = bare[f"{parts}.original"]
        if task is not None:
            one, other = (bare[f"{parts}.0.lora_{side}"][[*TASKS].index(task)] for side in "AB")
            product = one @ other if name in _TABLES else other @ one
            found[f"{name}.weight"] = found[f"{name}.weight"] + product * (ALPHA / RANK)
    return found
