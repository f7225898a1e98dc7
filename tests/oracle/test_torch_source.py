"""Encoders that PyTorch exports, against sentence-transformers on PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polybake.bake import bake
from polybake.encodermaker import EncoderMaker
from polybake.encoders import ENCODERS
from polybake.errors import CheckFailed, InputError
from polybake.recipe import resolve
from polybake.sources import open_source
from proven import Proven
from saved_models import MAX_LENGTH, difference, save, wordpiece_vocabulary

pytestmark = pytest.mark.oracle
pytest.importorskip("sentence_transformers")

LIMIT = 1e-5

MEAN = "pool(mode=mean)"

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
            **SIZES, embedding_size=14, intra_bottleneck_size=16, normalization_type="layer_norm"
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


def llama() -> Any:
    from transformers import LlamaConfig, LlamaModel

    return LlamaModel(LlamaConfig(**SIZES, num_key_value_heads=2))


def gpt_neox() -> Any:
    from transformers import GPTNeoXConfig, GPTNeoXModel

    return GPTNeoXModel(GPTNeoXConfig(**SIZES))


def big_bird(attention_type: str = "original_full") -> Any:
    from transformers import BigBirdConfig, BigBirdModel

    return BigBirdModel(
        BigBirdConfig(**SIZES, attention_type=attention_type, block_size=4, num_random_blocks=1)
    )


def xlnet() -> Any:
    from transformers import XLNetConfig, XLNetModel

    sizes = {"d_model": 24, "n_layer": 3, "n_head": 4, "d_inner": 40}
    return XLNetModel(XLNetConfig(vocab_size=len(VOCABULARY), **sizes, pad_token_id=0))


KINDS: dict[str, Callable[[], Any]] = {
    "big_bird, full attention": big_bird,
    "convbert": convbert,
    "ernie": ernie,
    "esm": esm,
    "gpt_neox": gpt_neox,
    "llama": llama,
    "mobilebert": mobilebert,
    "mt5": mt5,
    "roformer": roformer,
}


def saved(folder: Path, model: Any, **settings: Any) -> Path:
    """Save a model with BERT's tokenizer, which has a fast form where the model's own has none."""
    from transformers import BertTokenizer

    return save(folder, model, BertTokenizer(vocab=VOCABULARY, **settings))


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids are equal and mean-pooled vectors agree, for every built-in case."""
    assert kind.split(",")[0] not in ENCODERS
    folder = saved(tmp_path, KINDS[kind]())
    found = difference(folder, tmp_path / "tiny.onnx", EncoderMaker.TORCH)
    print(f"\n{kind}: largest difference {found:.2e}")  # noqa: T201
    assert found <= LIMIT
    proven(kind=kind, source="torch export", steps=MEAN, difference=found)
