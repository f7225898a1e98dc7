"""A tiny model file of each task but ``embed``, of a seeded BERT with a head."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from safetensors.numpy import save_file

from models.folders.tiny_folders import (
    CONFIG,
    Arrays,
    bert_weights,
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from polybake.baking.bake_config import bake_config
from polybake.config import Config

#: Those of a tagger.
TAGS = ("O", "B-PER", "I-PER", "B-LOC", "L-LOC", 'say "no" #{1 + 1} ${x}', "`{{ 1 }}` \u65e0 \\n")

#: Names that source code of every language must encode.
LABELS = ("joy", 'say "no" #{1 + 1} ${x}', "\u65e0 \U0001f600 \\n", "`{{ 1 }}`")


def write_classifier(path: Path) -> Path:
    """A classifier with four labels, of which a text has one."""
    return _baked(path, *LABELS)


def write_pair_classifier(path: Path) -> Path:
    """A classifier with four labels, of which a pair of texts has one."""
    return _baked(path, *LABELS, task="classify-pairs")


def write_reranker(path: Path) -> Path:
    """A reranker that gives a pair one number, by a sigmoid."""
    return _baked(path, "LABEL_0")


def write_zero_shot(path: Path) -> Path:
    """A model of entailment, which is the last of its three labels."""
    return _baked(path, "contradiction", "neutral", "ENTAILMENT")


def write_sparse(path: Path) -> Path:
    """A sparse model; most weights are 0, and queries and documents have prompts."""
    with TemporaryDirectory() as folder:
        return _bake(path, write_splade(Path(folder)))


def write_multi_vector(path: Path) -> Path:
    """A model of token vectors: documents leave some tokens out, and queries have nine."""
    with TemporaryDirectory() as folder:
        return _bake(path, write_colbert(Path(folder)))


def write_hybrid(path: Path) -> Path:
    """A model with a vector of each text, and a weight and a vector of each token."""
    with TemporaryDirectory() as folder:
        return _bake(path, write_m3(Path(folder)))


def write_tagger(path: Path) -> Path:
    """A tagger with labels of BIO and BILOU, and plain ones that source code must encode."""
    with TemporaryDirectory() as folder:
        return _bake(path, write_labelled_tokens(Path(folder)))


def write_answerer(path: Path) -> Path:
    """A model that gives each token the numbers of a beginning and of an end."""
    with TemporaryDirectory() as folder:
        return _bake(path, write_spans(Path(folder)))


TASK_MODELS: dict[str, Callable[[Path], Path]] = {
    "answer": write_answerer,
    "classify": write_classifier,
    "classify-pairs": write_pair_classifier,
    "hybrid": write_hybrid,
    "multi-vector": write_multi_vector,
    "rerank": write_reranker,
    "sparse": write_sparse,
    "tag": write_tagger,
    "zero-shot": write_zero_shot,
}


def head_weights(labels: int) -> Arrays:
    """BERT's pooler and a linear layer behind it."""
    random = np.random.default_rng(7)
    hidden = CONFIG["hidden_size"]
    shapes = {
        "pooler.dense.weight": (hidden, hidden),
        "pooler.dense.bias": (hidden,),
        "classifier.weight": (labels, hidden),
        "classifier.bias": (labels,),
    }
    return {
        name: random.normal(0.0, 1.0, shape).astype(np.float32) for name, shape in shapes.items()
    }


def write_labelled(folder: Path, *labels: str) -> Path:
    """A plain Hugging Face folder of a BERT with a number for each label."""
    config = CONFIG | {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {str(place): label for place, label in enumerate(labels)},
    }
    return write_bert(folder, config, bert_weights() | head_weights(len(labels)))


def write_labelled_tokens(folder: Path, tags: tuple[str, ...] = TAGS) -> Path:
    """A plain Hugging Face folder of a BERT with a number of each token for each label."""
    config = CONFIG | {
        "architectures": ["BertForTokenClassification"],
        "id2label": {str(place): label for place, label in enumerate(tags)},
    }
    return write_bert(folder, config, lively_bert() | linear_weights("classifier", len(tags)))


def write_spans(folder: Path) -> Path:
    """A plain Hugging Face folder of a BERT with a beginning and an end for each token."""
    # A question and the README's context, which are letters here, fit into a row.
    config = CONFIG | {
        "architectures": ["BertForQuestionAnswering"],
        "max_position_embeddings": 100,
    }
    positions = np.random.default_rng(7).normal(0.0, 0.2, (100, CONFIG["hidden_size"]))
    weights = lively_bert() | linear_weights("qa_outputs", 2)
    weights["embeddings.position_embeddings.weight"] = positions.astype(np.float32)
    write_bert(folder, config, weights)
    change_json(folder / "tokenizer_config.json", model_max_length=96)
    return folder


def linear_weights(name: str, outputs: int) -> Arrays:
    """A linear layer behind BERT."""
    random = np.random.default_rng(7)
    weight = random.normal(0.0, 1.0, (outputs, CONFIG["hidden_size"])).astype(np.float32)
    return {f"{name}.weight": weight, f"{name}.bias": np.zeros(outputs, np.float32)}


def masked_lm_weights() -> Arrays:
    """BERT and the head of its masked language model, whose bias leaves most tokens out."""
    random = np.random.default_rng(7)
    hidden, words = CONFIG["hidden_size"], CONFIG["vocab_size"]
    shapes = {
        "transform.dense.weight": (hidden, hidden),
        "transform.dense.bias": (hidden,),
        "transform.LayerNorm.weight": (hidden,),
        "transform.LayerNorm.bias": (hidden,),
        "bias": (words,),
    }
    means = {"transform.LayerNorm.weight": 3.0, "bias": -3.5}
    head = {
        f"cls.predictions.{name}": random.normal(means.get(name, 0.0), 0.2, shape)
        for name, shape in shapes.items()
    }
    return lively_bert() | {name: array.astype(np.float32) for name, array in head.items()}


def lively_bert() -> Arrays:
    """The BERT with norms that scale by about 1, or it would hardly depend on the text."""
    return {
        name: array + np.float32(name.endswith("LayerNorm.weight"))
        for name, array in bert_weights().items()
    }


def write_splade(folder: Path, **settings: object) -> Path:
    """A folder that sentence-transformers saves of a SparseEncoder."""
    write_sentence_transformers(folder, ("SpladePooling", {"pooling_strategy": "max"}))
    write_bert(
        folder,
        CONFIG | {"architectures": ["BertForMaskedLM"]},
        masked_lm_weights(),
    )
    write_json(folder / "sentence_bert_config.json", {"transformer_task": "fill-mask"})
    prompts = {"query": "query: ", "document": "passage: "}
    saved = {"model_type": "SparseEncoder", "prompts": prompts, **settings}
    write_json(folder / "config_sentence_transformers.json", saved)
    return folder


def write_colbert(folder: Path, **settings: object) -> Path:
    """A folder that sentence-transformers saves of a MultiVectorEncoder."""
    names = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}
    dense = {"activation_function": "torch.nn.modules.linear.Identity", "bias": False, **names}
    mask = {"skiplist_words": [".", ",", "the"], "skiplist_tasks": ["document"]}
    modules = (("Dense", dense), ("MultiVectorMask", mask), ("Normalize", names))
    write_sentence_transformers(folder, *modules)
    write_bert(folder, weights=lively_bert())
    weight = np.random.default_rng(3).normal(size=(5, CONFIG["hidden_size"])).astype(np.float32)
    save_file({"linear.weight": weight}, folder / "1_Dense" / "model.safetensors")
    augmentation = {"strategy": "fixed", "length": 9, "token": "[MASK]"}
    lengths = {"query_expansion": augmentation, "document_length": 24, **settings}
    write_json(folder / "sentence_bert_config.json", lengths)
    prompts = {"query": "query: ", "document": "passage: "}
    saved = {"model_type": "MultiVectorEncoder", "prompts": prompts}
    write_json(folder / "config_sentence_transformers.json", saved)
    return folder


def write_m3(folder: Path, layers: Mapping[str, Arrays] | None = None) -> Path:
    """A folder of BGE-M3's kind: two layers lie beside the encoder of a text's one vector."""
    pooling = {"word_embedding_dimension": CONFIG["hidden_size"], "pooling_mode_cls_token": True}
    write_sentence_transformers(folder, ("Pooling", pooling), ("Normalize", {}))
    write_bert(folder, weights=lively_bert())
    tokens = {"cls": "[CLS]", "eos": "[SEP]", "pad": "[PAD]", "unk": "[UNK]"}
    named = {f"{name}_token": token for name, token in tokens.items()}
    change_json(folder / "tokenizer_config.json", **named)
    for name, arrays in (m3_layers() if layers is None else layers).items():
        save_file(arrays, folder / f"{name}.safetensors")
    return folder


def m3_layers() -> dict[str, Arrays]:
    """The layers by the names of their files; about half of all tokens have a weight above 0."""
    random, hidden = np.random.default_rng(3), CONFIG["hidden_size"]
    return {
        name: {
            "weight": random.normal(0.0, 0.2, (size, hidden)).astype(np.float32),
            "bias": random.normal(0.0, 0.2, size).astype(np.float32),
        }
        for name, size in (("sparse_linear", 1), ("colbert_linear", 7))
    }


def _baked(path: Path, *labels: str, task: str | None = None) -> Path:
    with TemporaryDirectory() as folder:
        return _bake(path, write_labelled(Path(folder), *labels), task)


def _bake(path: Path, source: Path, task: str | None = None) -> Path:
    table = {"name": path.stem, "source": source, "output": path, "task": task}
    bake_config(Config.model_validate({"model": table}))
    return path
