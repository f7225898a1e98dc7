"""The tiny random models that reported.py runs where a report is of another kind than MiniLM."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any


def write_models(folder: Path) -> None:
    """Tiny random models, saved by sentence-transformers."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Dense,
        Normalize,
        Pooling,
        Transformer,
    )

    tanh = torch.nn.Tanh()
    prompts = {"query": "query: ", "document": "passage: "}
    kinds: dict[str, tuple[str, str, list[Any], dict[str, str]]] = {
        "tiny-prompts": ("bert", "mean", [Normalize()], prompts),
        "tiny-cls": ("bert", "cls", [Normalize()], {}),
        "tiny-dense": ("bert", "cls", [Dense(12, 12, activation_function=tanh), Normalize()], {}),
        "tiny-narrow": ("bert", "mean", [Dense(12, 5, activation_function=tanh)], {}),
        "tiny-last": ("qwen3", "lasttoken", [Normalize()], {}),
    }
    for seed, (name, (kind, mode, after, texts)) in enumerate(kinds.items()):
        with tempfile.TemporaryDirectory() as scratch:
            _save_body(Path(scratch), kind)
            body = Transformer(scratch, max_seq_length=48)
            modules = [body, Pooling(12, pooling_mode=mode), *after]
            model = SentenceTransformer(modules=modules, device="cpu", prompts=texts)
            _randomise(model, seed)
            model.save(str(folder / name), create_model_card=False)


def _save_body(folder: Path, kind: str) -> None:
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [f"{mark}{one}" for mark in ("", "##") for one in "abcdefghijklmnopqrstuvwxyz"]
    vocabulary = [*special, "the", "river", "boat", "query", "passage", *":.,?!'()-", *letters]
    numbers = {token: place for place, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token=special[1]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{one[1:-1].lower()}_token": one for one in special}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=48, **names
    ).save_pretrained(folder)
    shape = {
        "vocab_size": len(vocabulary),
        "hidden_size": 12,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 20,
        "max_position_embeddings": 64,
        "pad_token_id": 0,
    }
    if kind == "bert":
        body = transformers.BertModel(transformers.BertConfig(**shape), add_pooling_layer=False)
    else:
        heads = {"num_key_value_heads": 1, "head_dim": 4}
        body = transformers.Qwen3Model(transformers.Qwen3Config(**shape, **heads))
    body.save_pretrained(folder)


def _randomise(model: Any, seed: int) -> None:
    """Weights that attend to something, and words that differ: std 0.2, of embeddings 1."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = name.endswith("orm.weight")
            spread = 1.0 if "embed" in name and parameter.dim() > 1 else 0.2
            torch.nn.init.normal_(parameter, float(scale), spread, generator=generator)
