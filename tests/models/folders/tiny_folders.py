"""Model folders small enough to write in every test: a seeded BERT with a WordPiece tokenizer.

Weights have a standard deviation of 0.2: at 0.02 attention is nearly uniform, and a forgotten
scale would not show. No two dimensions are equal, so that no transposed weight fits.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

Arrays = dict[str, NDArray[Any]]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "water", "river", "boat", "##s", "##ing", "query", "passage", ":", ".", ","]
VOCABULARY = [
    *SPECIAL,
    *WORDS,
    *string.ascii_lowercase,
    *(f"##{letter}" for letter in string.ascii_lowercase),
]

CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": len(VOCABULARY),
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 40,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


def bert_weights(config: Mapping[str, Any] = CONFIG, seed: int = 1) -> Arrays:
    """The checkpoint of a BERT, under transformers' names."""
    random = np.random.default_rng(seed)
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
        **_norm("embeddings", hidden),
    }
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            shapes |= _linear(f"{layer}.attention.self.{part}", hidden, hidden)
        shapes |= _linear(f"{layer}.attention.output.dense", hidden, hidden)
        shapes |= _norm(f"{layer}.attention.output", hidden)
        shapes |= _linear(f"{layer}.intermediate.dense", hidden, wide)
        shapes |= _linear(f"{layer}.output.dense", wide, hidden)
        shapes |= _norm(f"{layer}.output", hidden)
    return {
        name: random.normal(0.0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()
    }


def write_bert(
    folder: Path, config: Mapping[str, Any] = CONFIG, weights: Arrays | None = None
) -> Path:
    """Write a plain Hugging Face folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", dict(config))
    save_file(bert_weights(config) if weights is None else weights, folder / "model.safetensors")
    write_tokenizer(folder)
    return folder


def write_sentence_transformers(
    folder: Path, *modules: tuple[str, dict[str, Any]], generation: str = "models"
) -> Path:
    """Write a sentence-transformers folder: the BERT, then ``modules`` as (type, config)."""
    write_bert(folder)
    listed = [("", _module_type(generation, "Transformer"))]
    for index, (name, config) in enumerate(modules, start=1):
        path = f"{index}_{name}"
        listed.append((path, _module_type(generation, name)))
        (folder / path).mkdir()
        write_json(folder / path / "config.json", config)
    write_modules(folder, *listed)
    return folder


def write_modules(folder: Path, *modules: tuple[str, str]) -> None:
    """Write modules.json: the path and the type of each."""
    listed = [
        {"idx": place, "name": str(place), "path": path, "type": kind}
        for place, (path, kind) in enumerate(modules)
    ]
    write_json(folder / "modules.json", listed)


def write_router(
    folder: Path, routes: Mapping[str, list[str]], types: Mapping[str, str], **parameters: object
) -> None:
    """Write router_config.json: the modules of each route, and each module's type."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"types": types, "structure": routes, "parameters": parameters}
    write_json(folder / "router_config.json", config)


def write_two_encoders(folder: Path, **settings: object) -> Path:
    """Write a folder whose queries take a BERT of size 8, and whose documents one of size 12.

    Args:
        folder: The folder of the model.
        settings: Keys of the queries' sentence_bert_config.json.
    """
    small = CONFIG | {"hidden_size": 8, "num_attention_heads": 2}
    write_bert(folder / "q_bert", small, bert_weights(small, seed=2))
    write_json(folder / "q_bert" / "sentence_bert_config.json", settings)
    write_bert(folder / "d_bert")
    dense = {"linear.weight": np.random.default_rng(3).normal(0, 0.2, (12, 8)).astype(np.float32)}
    for name, config in (("q_pool", {"pooling_mode": "mean"}), ("d_pool", {"pooling_mode": "cls"})):
        (folder / name).mkdir()
        write_json(folder / name / "config.json", config)
    (folder / "q_dense").mkdir()
    write_json(folder / "q_dense" / "config.json", {"bias": False})
    save_file(dense, folder / "q_dense" / "model.safetensors")
    kinds = {"bert": "Transformer", "pool": "Pooling", "dense": "Dense"}
    names = ("q_bert", "q_pool", "q_dense", "d_bert", "d_pool")
    types = {name: _module_type("base", kinds[name[2:]]) for name in names}
    routes = {"query": ["q_bert", "q_pool", "q_dense"], "document": ["d_bert", "d_pool"]}
    write_router(folder, routes, types, default_route="document")
    write_modules(folder, ("", _module_type("base", "Router")))
    return folder


def write_tokenizer(folder: Path) -> None:
    """Write tokenizer.json, as shipped with a wrong limit and padding, and its configuration."""
    tokenizer = Tokenizer(
        models.WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.enable_truncation(9)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "BertTokenizer", "model_max_length": 32, "pad_token": "[PAD]"},
    )


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def change_json(path: Path, **changes: object) -> None:
    """Set keys of a JSON object on disk; None removes one."""
    value = json.loads(path.read_text("utf-8")) | changes
    write_json(path, {key: kept for key, kept in value.items() if kept is not None})


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, size: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.LayerNorm.weight": (size,), f"{name}.LayerNorm.bias": (size,)}


def _module_type(generation: str, name: str) -> str:
    if generation == "models":
        return f"sentence_transformers.models.{name}"
    return f"sentence_transformers.{generation}.modules.{name.lower()}.{name}"
