"""Tiny random models of BERT's line and T5, made by the classes of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.folders.saved import (
    MAX_LENGTH,
    MERGES,
    byte_vocabulary,
    unigram_vocabulary,
    wordpiece_vocabulary,
)

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

DEBERTA_V3: dict[str, Any] = {
    "relative_attention": True,
    "position_biased_input": False,
    "type_vocab_size": 0,
    "pos_att_type": "p2c|c2p",
    "position_buckets": 8,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
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
    config = DebertaV2Config(vocab_size=len(vocabulary), **SIZES | DEBERTA_V3 | settings)
    return DebertaV2Model(config), DebertaV2Tokenizer(vocab=vocabulary)


def deberta_v1(**settings: Any) -> tuple[Any, Any]:
    from transformers import DebertaConfig, DebertaModel, DebertaTokenizer

    vocabulary = byte_vocabulary("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")
    relative = {"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0}
    config = DebertaConfig(
        vocab_size=len(vocabulary), **SIZES | relative | {"pos_att_type": "c2p|p2c"} | settings
    )
    return DebertaModel(config), DebertaTokenizer(vocab=vocabulary, merges=MERGES)


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


def bart(**settings: Any) -> tuple[Any, Any]:
    from transformers import BartConfig, BartModel, RobertaTokenizer

    vocabulary = byte_vocabulary("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    sizes = {
        "d_model": 24,
        "encoder_layers": 3,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 40,
        "decoder_ffn_dim": 36,
        "max_position_embeddings": MAX_LENGTH,
    }
    config = BartConfig(vocab_size=len(vocabulary), **sizes, **settings)
    return BartModel(config), RobertaTokenizer(vocab=vocabulary, merges=MERGES)


def gpt2(**settings: Any) -> tuple[Any, Any]:
    """With tokens around a text, as the library fails at a text without any."""
    from transformers import GPT2Config, GPT2Model, RobertaTokenizer

    vocabulary = byte_vocabulary("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    sizes = {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": MAX_LENGTH + 7}
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    config = GPT2Config(vocab_size=len(vocabulary), **sizes, **ids, **settings)
    return GPT2Model(config), RobertaTokenizer(vocab=vocabulary, merges=MERGES)


#: The function that makes a model and its tokenizer, by kind.
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
    "deberta-v2, c2p, shared keys": lambda: deberta(pos_att_type=["c2p"]),
    "deberta-v2, p2c, shared keys": lambda: deberta(pos_att_type=["p2c"]),
    "bart": bart,
    "bart, scaled": lambda: bart(scale_embedding=True, activation_function="relu"),
    "gpt2": gpt2,
    "gpt2, wide": lambda: gpt2(n_inner=40, activation_function="relu"),
    "deberta": deberta_v1,
    "deberta, c2p, 16 positions": lambda: deberta_v1(
        pos_att_type=["c2p"], max_relative_positions=16
    ),
    "deberta, p2c": lambda: deberta_v1(pos_att_type=["p2c"]),
    "t5": t5,
    "t5, gated gelu, few buckets": lambda: t5(
        feed_forward_proj="gated-gelu",
        relative_attention_num_buckets=10,
        relative_attention_max_distance=19,
    ),
}
