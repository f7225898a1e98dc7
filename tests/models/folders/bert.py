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
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
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


def made(name: str, vocabulary: Any, tokenizer: str = "", **settings: Any) -> tuple[Any, Any]:
    """A model of transformers, and the tokenizer of its own name or another one."""
    import transformers

    config = getattr(transformers, f"{name}Config")(vocab_size=len(vocabulary), **settings)
    merges = {"merges": MERGES} if "".join(MERGES[0]) in vocabulary else {}
    kind = getattr(transformers, f"{tokenizer or name}Tokenizer")
    return getattr(transformers, f"{name}Model")(config), kind(vocab=vocabulary, **merges)


def bert(**settings: Any) -> tuple[Any, Any]:
    return made("Bert", wordpiece_vocabulary(*BERT_TOKENS), **SIZES | settings)


def roberta(**settings: Any) -> tuple[Any, Any]:
    return made("Roberta", byte_vocabulary(*ROBERTA_TOKENS), **SIZES | settings)


def xlm_roberta() -> tuple[Any, Any]:
    return made("XLMRoberta", unigram_vocabulary(*ROBERTA_TOKENS), **SIZES | {"type_vocab_size": 1})


def camembert() -> tuple[Any, Any]:
    unused = ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED")
    vocabulary = unigram_vocabulary(*unused, "<s>", "</s>", "<mask>")
    ids = {"bos_token_id": 5, "eos_token_id": 6, "pad_token_id": 1}
    return made("Camembert", vocabulary, **SIZES | {"type_vocab_size": 1}, **ids)


def distilbert() -> tuple[Any, Any]:
    sizes = {"dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 40}
    rows = {"max_position_embeddings": MAX_LENGTH + 7}
    return made("DistilBert", wordpiece_vocabulary(*BERT_TOKENS), **sizes, **rows)


def mpnet() -> tuple[Any, Any]:
    return made("MPNet", wordpiece_vocabulary("<s>", "<pad>", "</s>", "[UNK]", "<mask>"), **SIZES)


def albert(**settings: Any) -> tuple[Any, Any]:
    vocabulary = unigram_vocabulary("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    sizes = SIZES | {"num_hidden_layers": 5, "embedding_size": 14}
    return made("Albert", vocabulary, **sizes | settings)


def electra(embedding_size: int = 14) -> tuple[Any, Any]:
    sizes = SIZES | {"embedding_size": embedding_size}
    return made("Electra", wordpiece_vocabulary(*BERT_TOKENS), tokenizer="Bert", **sizes)


def deberta(**settings: Any) -> tuple[Any, Any]:
    vocabulary = unigram_vocabulary("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
    return made("DebertaV2", vocabulary, **SIZES | DEBERTA_V3 | settings)


def deberta_v1(**settings: Any) -> tuple[Any, Any]:
    vocabulary = byte_vocabulary("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")
    relative = {"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0}
    kinds = {"pos_att_type": "c2p|p2c"}
    return made("Deberta", vocabulary, **SIZES | relative | kinds | settings)


def t5(**settings: Any) -> tuple[Any, Any]:
    import transformers

    vocabulary = unigram_vocabulary("<pad>", "</s>", "<unk>")
    sizes = {"d_model": 24, "d_kv": 10, "d_ff": 40, "num_layers": 3, "num_heads": 4}
    config = transformers.T5Config(vocab_size=len(vocabulary) + 3, **sizes, **settings)
    tokenizer = transformers.T5Tokenizer(vocab=vocabulary, extra_ids=3)
    return transformers.T5EncoderModel(config), tokenizer


def bart(**settings: Any) -> tuple[Any, Any]:
    encoder = {"layers": 3, "attention_heads": 4, "ffn_dim": 40}
    decoder = {"layers": 2, "attention_heads": 2, "ffn_dim": 36}
    sizes = {f"encoder_{key}": size for key, size in encoder.items()}
    sizes |= {f"decoder_{key}": size for key, size in decoder.items()}
    sizes |= {"d_model": 24, "max_position_embeddings": MAX_LENGTH}
    return made("Bart", byte_vocabulary(*ROBERTA_TOKENS), tokenizer="Roberta", **sizes, **settings)


def gpt2(**settings: Any) -> tuple[Any, Any]:
    """With tokens around a text, as the library fails at a text without any."""
    sizes = {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": MAX_LENGTH + 7}
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    vocabulary = byte_vocabulary(*ROBERTA_TOKENS)
    return made("GPT2", vocabulary, tokenizer="Roberta", **sizes, **ids, **settings)


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
