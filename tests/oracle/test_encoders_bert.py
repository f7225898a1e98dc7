"""Encoders of BERT's line against transformers, which saved them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from agreement import agreement_with_folder
from polybake.encoders.log_buckets import log_buckets
from polybake.encoders.relative_bias import relative_buckets
from proven import FOLDER, Proven
from saved_models import (
    MAX_LENGTH,
    MERGES,
    byte_vocabulary,
    randomise,
    save,
    unigram_vocabulary,
    wordpiece_vocabulary,
)

pytestmark = pytest.mark.oracle
pytest.importorskip("sentence_transformers")

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
#: No two sizes are equal, and embeddings are of another size than hidden vectors.
SIZES: dict[str, Any] = {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": MAX_LENGTH + 7,
    "type_vocab_size": 2,
}


def bert(**settings: Any) -> tuple[Any, Any]:
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = wordpiece_vocabulary(*BERT_TOKENS)
    config = BertConfig(vocab_size=len(vocabulary), **SIZES, **settings)
    return BertModel(config), BertTokenizer(vocab=vocabulary)


def roberta(**settings: Any) -> tuple[Any, Any]:
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    vocabulary = byte_vocabulary("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    config = RobertaConfig(vocab_size=len(vocabulary), **SIZES | settings)
    return RobertaModel(config), RobertaTokenizer(vocab=vocabulary, merges=MERGES)


def xlm_roberta() -> tuple[Any, Any]:
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizer

    vocabulary = unigram_vocabulary("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    config = XLMRobertaConfig(vocab_size=len(vocabulary), **SIZES | {"type_vocab_size": 1})
    return XLMRobertaModel(config), XLMRobertaTokenizer(vocab=vocabulary)


def camembert() -> tuple[Any, Any]:
    from transformers import CamembertConfig, CamembertModel, CamembertTokenizer

    vocabulary = unigram_vocabulary(
        "<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>", "<mask>"
    )
    ids = {"bos_token_id": 5, "eos_token_id": 6, "pad_token_id": 1}
    config = CamembertConfig(vocab_size=len(vocabulary), **SIZES | {"type_vocab_size": 1}, **ids)
    return CamembertModel(config), CamembertTokenizer(vocab=vocabulary)


def distilbert() -> tuple[Any, Any]:
    from transformers import DistilBertConfig, DistilBertModel, DistilBertTokenizer

    vocabulary = wordpiece_vocabulary(*BERT_TOKENS)
    config = DistilBertConfig(
        vocab_size=len(vocabulary),
        dim=24,
        n_layers=3,
        n_heads=4,
        hidden_dim=40,
        max_position_embeddings=MAX_LENGTH + 7,
    )
    return DistilBertModel(config), DistilBertTokenizer(vocab=vocabulary)


def mpnet() -> tuple[Any, Any]:
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizer

    vocabulary = wordpiece_vocabulary("<s>", "<pad>", "</s>", "[UNK]", "<mask>")
    config = MPNetConfig(vocab_size=len(vocabulary), **SIZES)
    return MPNetModel(config), MPNetTokenizer(vocab=vocabulary)


def albert(**settings: Any) -> tuple[Any, Any]:
    from transformers import AlbertConfig, AlbertModel, AlbertTokenizer

    vocabulary = unigram_vocabulary("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    config = AlbertConfig(
        vocab_size=len(vocabulary),
        embedding_size=14,
        **SIZES | {"num_hidden_layers": 5},
        **settings,
    )
    return AlbertModel(config), AlbertTokenizer(vocab=vocabulary)


def electra(embedding_size: int = 14) -> tuple[Any, Any]:
    from transformers import BertTokenizer, ElectraConfig, ElectraModel

    vocabulary = wordpiece_vocabulary(*BERT_TOKENS)
    config = ElectraConfig(vocab_size=len(vocabulary), embedding_size=embedding_size, **SIZES)
    return ElectraModel(config), BertTokenizer(vocab=vocabulary)


def deberta(**settings: Any) -> tuple[Any, Any]:
    from transformers import DebertaV2Config, DebertaV2Model, DebertaV2Tokenizer

    vocabulary = unigram_vocabulary("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
    v3: dict[str, Any] = {
        "relative_attention": True,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pos_att_type": "p2c|c2p",
        "position_buckets": 8,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
    }
    config = DebertaV2Config(vocab_size=len(vocabulary), **SIZES | v3 | settings)
    return DebertaV2Model(config), DebertaV2Tokenizer(vocab=vocabulary)


def t5(**settings: Any) -> tuple[Any, Any]:
    from transformers import T5Config, T5EncoderModel, T5Tokenizer

    vocabulary = unigram_vocabulary("<pad>", "</s>", "<unk>")
    config = T5Config(
        vocab_size=len(vocabulary) + 3,
        d_model=24,
        d_kv=10,
        d_ff=40,
        num_layers=3,
        num_heads=4,
        **settings,
    )
    return T5EncoderModel(config), T5Tokenizer(vocab=vocabulary, extra_ids=3)


KINDS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "bert": bert,
    "bert, gelu_new": lambda: bert(hidden_act="gelu_new"),
    "roberta": roberta,
    "roberta, relu, padding id 4": lambda: roberta(hidden_act="relu", pad_token_id=4),
    "xlm-roberta": xlm_roberta,
    "camembert": camembert,
    "distilbert": distilbert,
    "mpnet": mpnet,
    "albert": albert,
    "albert, 2 groups of 2": lambda: albert(
        num_hidden_groups=2, inner_group_num=2, hidden_act="gelu"
    ),
    "electra": electra,
    "electra, not projected": lambda: electra(24),
    "deberta-v3": deberta,
    "deberta-v2, keys of its own": lambda: deberta(share_att_key=False, norm_rel_ebd="none"),
    "deberta-v2, c2p, no buckets": lambda: deberta(
        pos_att_type=["c2p"], position_buckets=-1, share_att_key=False
    ),
    "deberta-v2, p2c, 16 positions": lambda: deberta(
        pos_att_type=["p2c"], position_buckets=-1, max_relative_positions=16
    ),
    "t5": t5,
    "t5, gated gelu, few buckets": lambda: t5(
        feed_forward_proj="gated-gelu",
        relative_attention_num_buckets=10,
        relative_attention_max_distance=19,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids are equal and mean-pooled vectors agree, for every built-in case."""
    found = agreement_with_folder(save(tmp_path, *KINDS[kind]()), tmp_path / "tiny.onnx")
    proven(kind, found)


#: How transformers loads a model with the head that it was trained with.
HEADS = {
    "bert": "AutoModelForPreTraining",
    "roberta": "AutoModelForMaskedLM",
    "xlm-roberta": "AutoModelForMaskedLM",
    "camembert": "AutoModelForMaskedLM",
    "distilbert": "AutoModelForMaskedLM",
    "mpnet": "AutoModelForMaskedLM",
    "albert": "AutoModelForPreTraining",
    "electra": "AutoModelForPreTraining",
    "deberta-v3": "AutoModelForMaskedLM",
    "t5": "AutoModelForSeq2SeqLM",
}


@pytest.mark.parametrize("kind", HEADS)
def test_a_head_is_left_out(kind: str, tmp_path: Path, proven: Proven) -> None:
    """A folder of transformers alone, whose checkpoint also holds a head, agrees as well."""
    import transformers

    model, tokenizer = KINDS[kind]()
    model.config.is_encoder_decoder = kind == "t5"
    whole = getattr(transformers, HEADS[kind]).from_config(model.config)
    randomise(whole).save_pretrained(tmp_path / "model")
    tokenizer.model_max_length = MAX_LENGTH
    tokenizer.save_pretrained(tmp_path / "model")
    found = agreement_with_folder(tmp_path / "model", tmp_path / "tiny.onnx")
    proven(kind, found, source="Hugging Face folder, with a head")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", ["roberta", "deberta-v3", "t5"])
def test_half_precision_is_widened(kind: str, dtype: str, tmp_path: Path, proven: Proven) -> None:
    """A checkpoint in 16 bits agrees with transformers in float32."""
    import torch

    model, tokenizer = KINDS[kind]()
    folder = save(tmp_path, model.to(getattr(torch, dtype)), tokenizer)
    with safe_open(folder / "model.safetensors", framework="numpy") as file:
        stored = {file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
    # transformers keeps a few of T5's in float32.
    assert {"float16": "F16", "bfloat16": "BF16"}[dtype] in stored <= {"F16", "BF16", "F32"}
    found = agreement_with_folder(folder, tmp_path / "tiny.onnx")
    proven(kind, found, source=f"{FOLDER}, {dtype}")


def test_shards_of_transformers(tmp_path: Path, proven: Proven) -> None:
    """A checkpoint that transformers cut into several files loads whole."""
    model, tokenizer = roberta()
    folder = save(tmp_path, model, tokenizer)
    model.save_pretrained(folder, max_shard_size="20KB")
    (folder / "model.safetensors").unlink()
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    found = agreement_with_folder(folder, tmp_path / "tiny.onnx")
    proven("roberta", found, source=f"{FOLDER}, in shards")


@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (10, 19), (64, 256), (32, 100)])
def test_relative_buckets(buckets: int, furthest: int) -> None:
    """Every distance has T5's and MPNet's bucket, also far beyond the last one."""
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    distance = np.arange(-600, 601)
    expected = T5Attention._relative_position_bucket(
        torch.from_numpy(distance), num_buckets=buckets, max_distance=furthest
    )
    table = relative_buckets(buckets, furthest)
    found = table[np.clip(distance, -furthest, furthest) + furthest]
    np.testing.assert_array_equal(found, expected.numpy())


@pytest.mark.parametrize(("buckets", "furthest"), [(256, 512), (8, 33), (8, 63), (-1, 40)])
def test_log_buckets(buckets: int, furthest: int) -> None:
    """Every distance has DeBERTa's row."""
    import torch
    from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position

    last = 511
    row = torch.zeros(1, last + 1, 1)
    relative = build_relative_position(row, row, buckets, furthest)[0]
    span = buckets if buckets > 0 else furthest
    expected = torch.clamp(relative + span, 0, 2 * span - 1).numpy()
    table = log_buckets(last, buckets=buckets, furthest=furthest, span=span)
    places = np.arange(last + 1)
    np.testing.assert_array_equal(table[places[None, :] - places[:, None] + last], expected)
