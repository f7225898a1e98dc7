"""Tiny random models of architectures that PyTorch's exporter makes the graph of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.folders.saved import MAX_LENGTH, save, wordpiece_vocabulary

TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VOCABULARY = wordpiece_vocabulary(*TOKENS)

#: No two sizes are equal.
SIZES: dict[str, Any] = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": MAX_LENGTH + 7,
    "pad_token_id": 0,
}


def made(name: str, output: str = "Model", **settings: Any) -> Any:
    """A model of transformers with these settings."""
    import transformers

    config = getattr(transformers, f"{name}Config")(**settings)
    return getattr(transformers, f"{name}{output}")(config)


def roformer() -> Any:
    return made("RoFormer", **SIZES, embedding_size=14, rotary_value=True)


def esm() -> Any:
    return made("Esm", **SIZES, mask_token_id=4, position_embedding_type="rotary")


def convbert() -> Any:
    return made("ConvBert", **SIZES, embedding_size=14)


def mobilebert() -> Any:
    # trigram_input looks at the next token, also where that is padding.
    sizes = SIZES | {"embedding_size": 24, "intra_bottleneck_size": 16}
    return made("MobileBert", **sizes, trigram_input=False, normalization_type="layer_norm")


def ernie() -> Any:
    return made("Ernie", **SIZES)


def mt5() -> Any:
    sizes = {"d_model": 24, "d_kv": 10, "d_ff": 40, "num_layers": 3, "num_heads": 4}
    return made("MT5", "EncoderModel", vocab_size=len(VOCABULARY), **sizes)


def gpt_neox() -> Any:
    return made("GPTNeoX", **SIZES)


def big_bird(attention_type: str = "original_full") -> Any:
    sizes = SIZES | {"block_size": 4, "num_random_blocks": 1}
    return made("BigBird", **sizes, attention_type=attention_type)


def reformer() -> Any:
    sizes = {"hidden_size": 24, "attention_head_size": 6, "num_attention_heads": 4}
    sizes |= {"feed_forward_size": 40, "max_position_embeddings": 64, "local_attn_chunk_length": 8}
    kinds: dict[str, Any] = {"axial_pos_embds": False, "attn_layers": ["local", "local"]}
    return made("Reformer", vocab_size=len(VOCABULARY), **sizes, **kinds)


def bart() -> Any:
    sizes = {"d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 40}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "decoder_ffn_dim": 40}
    return made("Bart", vocab_size=len(VOCABULARY), **sizes, **heads, pad_token_id=0)


def xlnet() -> Any:
    sizes = {"d_model": 24, "n_layer": 3, "n_head": 4, "d_inner": 40}
    return made("XLNet", vocab_size=len(VOCABULARY), **sizes, pad_token_id=0)


def saved(folder: Path, model: Any, **settings: Any) -> Path:
    """Save a model with BERT's tokenizer, which has a fast form where the model's own has none."""
    from transformers import BertTokenizer

    return save(folder, model, BertTokenizer(vocab=VOCABULARY, **settings))


#: Kinds that PyTorch exports.
KINDS: dict[str, Callable[[], Any]] = {
    "big_bird, full attention": big_bird,
    "ernie": ernie,
    "esm": esm,
    "gpt_neox": gpt_neox,
    "mobilebert": mobilebert,
    "mt5": mt5,
    "roformer": roformer,
}
