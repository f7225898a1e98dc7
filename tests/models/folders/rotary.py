"""Tiny random models with rotary positions, by their library's own classes."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models.folders.saved import MERGES, byte_vocabulary
from models.folders.seeded import redraw
from models.folders.tiny_folders import VOCABULARY, change_json, write_tokenizer

SIZES: dict[str, Any] = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 24,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 28,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
}
GROUPED: dict[str, Any] = SIZES | {"num_key_value_heads": 2, "rope_parameters": None}


def one(theta: float) -> dict[str, Any]:
    return {"rope_theta": theta, "rope_type": "default"}


def two(full: float, sliding: float) -> dict[str, Any]:
    return {"full_attention": one(full), "sliding_attention": one(sliding)}


@dataclass(frozen=True)
class Kind:
    """A model of the library and what is changed in its config.json; None removes a key."""

    model: str
    settings: dict[str, Any]
    pooling: str = "mean"
    rewritten: dict[str, Any] = field(default_factory=dict)


QWEN2 = Kind("Qwen2", GROUPED | {"rope_parameters": one(50.0)}, "lasttoken")
QWEN3 = Kind("Qwen3", GROUPED | {"rope_parameters": one(50.0), "head_dim": 10}, "lasttoken")
WINDOW = {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}
MISTRAL = {"rope_parameters": one(50.0), "sliding_window": 5, "head_dim": 10}
MODERN = SIZES | {
    "local_attention": 7,
    "rope_parameters": two(300.0, 20.0),
    "bos_token_id": 2,
    "cls_token_id": 2,
    "eos_token_id": 3,
    "sep_token_id": 3,
}
GEMMA = GROUPED | {
    "head_dim": 10,
    "sliding_window": 7,
    "query_pre_attn_scalar": 5,
    "rope_parameters": two(300.0, 20.0),
    "layer_types": ["sliding_attention", "full_attention"] * 2,
}
#: Pairs of a head of 16 that turn fast, slow, and between.
LLAMA3 = {
    "rope_theta": 50.0,
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
BERT_LIKE = SIZES | {"rope_parameters": one(50.0)}

#: Keys of these models that transformers 4 did not write.
OLDER = {"layer_types": None, "rope_parameters": None}

KINDS = {
    "modernbert": Kind("ModernBert", MODERN),
    "modernbert, biases": Kind(
        "ModernBert",
        MODERN | {"norm_bias": True, "attention_bias": True, "mlp_bias": True},
        "cls",
    ),
    "modernbert, of transformers 4": Kind(
        "ModernBert",
        MODERN,
        "mean",
        OLDER
        | {"global_attn_every_n_layers": 2, "global_rope_theta": 300.0, "local_rope_theta": 20.0},
    ),
    "modernbert, half a window": Kind("ModernBert", MODERN, "mean", {"sliding_window": 2}),
    "qwen2": QWEN2,
    "qwen2, windows": Kind("Qwen2", QWEN2.settings | WINDOW, "mean"),
    "qwen2, of transformers 4": Kind(
        "Qwen2", QWEN2.settings | WINDOW, "mean", OLDER | {"rope_theta": 50.0, "rope_scaling": None}
    ),
    "qwen2, both ways": Kind("Qwen2", QWEN2.settings, "mean", {"is_causal": False}),
    "qwen2, both ways windows": Kind(
        "Qwen2", QWEN2.settings | WINDOW, "mean", {"is_causal": False}
    ),
    "qwen3": QWEN3,
    "qwen3, biases, windows": Kind(
        "Qwen3", QWEN3.settings | WINDOW | {"attention_bias": True}, "mean"
    ),
    "llama": Kind("Llama", GROUPED | {"rope_parameters": one(50.0)}, "lasttoken"),
    "llama, biases, every head its own": Kind(
        "Llama",
        SIZES | {"attention_bias": True, "rope_parameters": one(50.0)},
        "mean",
        {"num_key_value_heads": None, "is_causal": False},
    ),
    "llama, stretched": Kind("Llama", GROUPED | {"rope_parameters": LLAMA3, "head_dim": 16}),
    "mistral": Kind("Mistral", GROUPED | MISTRAL, "lasttoken"),
    "mistral, no window": Kind(
        "Mistral", GROUPED | {"rope_parameters": one(50.0), "sliding_window": None}, "mean"
    ),
    "mistral, full and sliding layers": Kind(
        "Mistral",
        GROUPED | MISTRAL,
        "mean",
        {"layer_types": ["full_attention", "sliding_attention"] * 2},
    ),
    "gemma": Kind("Gemma", GROUPED | {"rope_parameters": one(50.0), "head_dim": 10}, "lasttoken"),
    "gemma, biases, both ways, of transformers 4": Kind(
        "Gemma",
        GROUPED
        | {
            "rope_parameters": one(50.0),
            "head_dim": 10,
            "attention_bias": True,
            "use_bidirectional_attention": True,
        },
        "mean",
        {
            "hidden_act": "gelu",
            "hidden_activation": None,
            "rope_parameters": None,
            "rope_theta": 50.0,
        },
    ),
    "gemma3_text, both ways": Kind("Gemma3Text", GEMMA | {"use_bidirectional_attention": True}),
    "gemma3_text, causal": Kind("Gemma3Text", GEMMA, "lasttoken"),
    "gemma3_text, biases": Kind("Gemma3Text", GEMMA | {"attention_bias": True}),
    "gemma3_text, of transformers 4": Kind(
        "Gemma3Text",
        GEMMA | {"use_bidirectional_attention": True},
        "mean",
        OLDER
        | {
            "_sliding_window_pattern": None,
            "sliding_window_pattern": 2,
            "rope_theta": 300.0,
            "rope_local_base_freq": 20.0,
        },
    ),
    "eurobert": Kind("EuroBert", GROUPED | {"rope_parameters": one(50.0), "head_dim": 10}),
    "eurobert, biases": Kind(
        "EuroBert", SIZES | {"rope_parameters": one(50.0), "attention_bias": True}, "cls"
    ),
    "eurobert, of its own code": Kind(
        "EuroBert",
        GROUPED | {"rope_parameters": one(50.0)},
        "mean",
        {
            "rope_parameters": None,
            "rope_theta": 50.0,
            "auto_map": {"AutoModel": "modeling_eurobert.EuroBertModel"},
            "clf_pooling": "late",
        },
    ),
    "nomic_bert": Kind("NomicBert", BERT_LIKE),
    "jina_embeddings_v3": Kind("JinaEmbeddingsV3", BERT_LIKE),
    "jina_embeddings_v3, its own theta": Kind(
        "JinaEmbeddingsV3",
        SIZES | {"hidden_act": "gelu_new", "rope_parameters": one(20_000.0)},
        "cls",
        {"rope_parameters": None},
    ),
    "gte": Kind("Gte", BERT_LIKE),
    "gte, two token types": Kind("Gte", BERT_LIKE | {"type_vocab_size": 2}),
    "gte, no token types": Kind("Gte", BERT_LIKE | {"type_vocab_size": 0}, "cls"),
}


def save_kind(kind: Kind, folder: Path, side: str = "right") -> Path:
    """Let sentence-transformers save a seeded model of this kind."""
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    config = getattr(transformers, f"{kind.model}Config")(**kind.settings)
    model = getattr(transformers, f"{kind.model}Model")(config)
    for name, weight in model.named_parameters():
        # Scales stay around the 1 (or Gemma's 0) that they begin with.
        redraw(weight, f"4 {name}", weight.data[0].item() if weight.ndim == 1 else 0.0)
    body = folder.with_name("body")
    model.save_pretrained(body)
    write_tokenizer(body)
    change_json(body / "tokenizer_config.json", padding_side=side)
    modules = [Transformer(str(body)), Pooling(kind.settings["hidden_size"], kind.pooling)]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    change_json(folder / "config.json", **kind.rewritten)
    return folder


def qwen2_tokenizer() -> Any:
    """Bytes, and ``<|endoftext|>`` after every text, as embedding models of Qwen have it."""
    import transformers
    from tokenizers import processors

    vocabulary = byte_vocabulary("<pad>", "<|endoftext|>")
    found = transformers.Qwen2Tokenizer(
        vocab=vocabulary, merges=MERGES, padding_side="left", pad_token="<pad>"
    )
    found.backend_tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 1)]
            ),
        ]
    )
    return found


def gemma_tokenizer() -> Any:
    """Pieces and bytes between ``<bos>`` and ``<eos>``."""
    import transformers

    special = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
    vocabulary = pieces_and_bytes(*special)
    return transformers.GemmaTokenizer(vocab=vocabulary, add_bos_token=True, add_eos_token=True)


def mistral_tokenizer() -> Any:
    """Pieces and bytes between ``<s>`` and ``</s>``, which also pads on the left."""
    import transformers

    vocabulary = pieces_and_bytes("<unk>", "<s>", "</s>")
    return transformers.LlamaTokenizer(
        vocab=vocabulary,
        add_bos_token=True,
        add_eos_token=True,
        padding_side="left",
        pad_token="</s>",
    )


def pieces_and_bytes(*special: str) -> dict[str, int]:
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    letters = ["\u2581", *string.ascii_lowercase, *".,:!?"]
    return {token: number for number, token in enumerate([*special, *byte_tokens, *letters])}
