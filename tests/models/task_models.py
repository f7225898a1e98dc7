"""A tiny model file of each task but ``embed``, of a seeded BERT with a head."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from models.tiny_folders import CONFIG, Arrays, bert_weights, write_bert
from polybake.baking.bake_config import bake_config
from polybake.config import Config

#: Names that source code of every language must encode.
LABELS = ("joy", 'say "no" #{1 + 1} ${x}', "\u65e0 \U0001f600 \\n", "`{{ 1 }}`")


def write_classifier(path: Path) -> Path:
    """Four labels, of which a text has one."""
    return _baked(path, *LABELS)


def write_reranker(path: Path) -> Path:
    """One number a pair, by a sigmoid."""
    return _baked(path, "LABEL_0")


def write_zero_shot(path: Path) -> Path:
    """Entailment is the last of three."""
    return _baked(path, "contradiction", "neutral", "ENTAILMENT")


TASK_MODELS: dict[str, Callable[[Path], Path]] = {
    "classify": write_classifier,
    "rerank": write_reranker,
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


def _baked(path: Path, *labels: str) -> Path:
    with TemporaryDirectory() as folder:
        source = write_labelled(Path(folder), *labels)
        table = {"name": path.stem, "source": source, "output": path}
        bake_config(Config.model_validate({"model": table}))
    return path
