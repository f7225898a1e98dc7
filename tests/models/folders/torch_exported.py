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


def roformer() -> Any:
    from transformers import RoFormerConfig, RoFormerModel

    return RoFormerModel(RoFormerConfig(**SIZES, embedding_size=14, rotary_value=True))


def esm() -> Any:
    from transformers import EsmConfig, EsmModel

    return EsmModel(EsmConfig(**SIZES, mask_token_id=4, position_embedding_type="rotary"))


def convbert() -> Any:
    from transformers import ConvBertConfig, ConvBertModel

    return ConvBertModel(ConvBertConfig(**SIZES, embedding_size=14))


def mobilebert() -> Any:
    from transformers import MobileBertConfig, MobileBertModel

    return MobileBertModel(
        MobileBertConfig(
            **SIZES,
            embedding_size=24,
            trigram_input=False,  # it looks at the next token, also where that is padding
            intra_bottleneck_size=16,
            normalization_type="layer_norm",
        )
    )


def ernie() -> Any:
    from transformers import ErnieConfig, ErnieModel

    return ErnieModel(ErnieConfig(**SIZES))


def mt5() -> Any:
    from transformers import MT5Config, MT5EncoderModel

    return MT5EncoderModel(
        MT5Config(
            vocab_size=len(VOCABULARY),
            d_model=24,
            d_kv=10,
            d_ff=40,
            num_layers=3,
            num_heads=4,
        )
    )


def gpt_neox() -> Any:
    from transformers import GPTNeoXConfig, GPTNeoXModel

    return GPTNeoXModel(GPTNeoXConfig(**SIZES))


def big_bird(attention_type: str = "original_full") -> Any:
    from transformers import BigBirdConfig, BigBirdModel

    return BigBirdModel(
        BigBirdConfig(**SIZES, attention_type=attention_type, block_size=4, num_random_blocks=1)
    )


def reformer() -> Any:
    from transformers import ReformerConfig, ReformerModel

    return ReformerModel(
        ReformerConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=24,
            attention_head_size=6,
            num_attention_heads=4,
            feed_forward_size=40,
            axial_pos_embds=False,
            max_position_embeddings=64,
            attn_layers=["local", "local"],
            local_attn_chunk_length=8,
        )
    )


def bart() -> Any:
    from transformers import BartConfig, BartModel

    sizes = {"d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 40}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "decoder_ffn_dim": 40}
    return BartModel(BartConfig(vocab_size=len(VOCABULARY), **sizes, **heads, pad_token_id=0))


def xlnet() -> Any:
    from transformers import XLNetConfig, XLNetModel

    sizes = {"d_model": 24, "n_layer": 3, "n_head": 4, "d_inner": 40}
    return XLNetModel(XLNetConfig(vocab_size=len(VOCABULARY), **sizes, pad_token_id=0))


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
