"""Tiny models with a head of labels, drawn at random and saved by transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models.folders import bert, rotary
from models.folders.saved import MAX_LENGTH
from models.folders.seeded import randomise
from models.folders.tiny_folders import change_json, write_tokenizer

SEQUENCE = "SequenceClassification"
LABELS = ("joy", "anger", "\u65e0 \U0001f600")
BERT = [kind for kind in bert.KINDS if not kind.startswith(("bart", "gpt2", "t5"))]
DECODERS = [
    *(kind for kind in rotary.KINDS if rotary.KINDS[kind].model in ("Qwen2", "Qwen3", "Mistral")),
    "llama",
]
MODERN = [kind for kind in rotary.KINDS if kind.startswith("modernbert")]
GTE = ["gte, no token types", "gte, two token types"]


def named(kind: str, task: str) -> str:
    """The kind of a model with a head, its variant behind a comma."""
    model, comma, variant = kind.partition(",")
    return f"{model} {task}{comma}{variant}"


def saved_bert(
    folder: Path, kind: str, labels: tuple[str, ...], head: str = SEQUENCE, **settings: Any
) -> Path:
    """A BERT with a head of so many labels, saved by transformers; its folder."""
    model, tokenizer = bert.KINDS[kind]()
    save(folder, model.config, labels, head, **settings)
    tokenizer.model_max_length = MAX_LENGTH
    tokenizer.save_pretrained(folder)
    return folder


def saved_rotary(
    folder: Path,
    kind: str,
    labels: tuple[str, ...] = LABELS,
    head: str = SEQUENCE,
    **settings: Any,
) -> Path:
    """A model with rotary positions and a head of labels, saved by transformers."""
    import transformers

    made = rotary.KINDS[kind]
    config = getattr(transformers, f"{made.model}Config")(**made.settings)
    save(folder, config, labels, head, **settings)
    change_json(folder / "config.json", **made.rewritten)
    write_tokenizer(folder)
    # What transformers makes of it is what it saves, and then reads alike.
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    return folder


def save(folder: Path, config: Any, labels: tuple[str, ...], head: str, **settings: Any) -> None:
    """Draw the weights of a model with a head, and let its library save them."""
    import transformers

    config.id2label = dict(enumerate(labels))
    config.label2id = {label: place for place, label in enumerate(labels)}
    for name, value in settings.items():
        setattr(config, name, value)
    made = getattr(transformers, f"AutoModelFor{head}").from_config(config)
    randomise(made).save_pretrained(folder)


def reranker_of_modules(base: Path, activation: str = "Sigmoid", pooling: str = "cls") -> Any:
    """A CrossEncoder whose head is modules, as the Ettin rerankers have it."""
    import torch
    from sentence_transformers import CrossEncoder
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling

    body = Transformer(str(base))
    size = body.get_embedding_dimension()
    head = [
        Dense(size, size, bias=False, activation_function=torch.nn.GELU()),
        LayerNorm(size),
        Dense(size, 1, activation_function=torch.nn.Identity(), module_output_name="scores"),
    ]
    for module in head:
        randomise(module)
    modules = [body, Pooling(size, pooling_mode=pooling), *head]
    function = getattr(torch.nn, activation)()
    return CrossEncoder(modules=modules, activation_fn=function, device="cpu").eval()
