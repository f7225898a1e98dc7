"""The head that gives each token of a text a number for each label.

Source: transformers, ``ForTokenClassification`` of each family, in evaluation.
"""

from functools import partial

from polybake.baking.sources.heads.families import Families, head_steps
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.sources.heads.sequence_classification import HeadConfig, modernbert
from polybake.baking.sources.source import TaskHead
from polybake.baking.steps import Step
from polybake.base.files.model_folder import ModelFolder


def token_classification(folder: ModelFolder) -> TaskHead:
    """The head of a folder that transformers saved as ``ForTokenClassification``."""
    labels = folder.read("config.json", HeadConfig).labels
    steps = partial(head_steps, folder, "head of tokens", _FAMILIES, HeadConfig)
    return TaskHead("ForTokenClassification", steps, labels)


def _classifier(_: HeadConfig, head: Layers) -> list[Step]:
    return [head.dense("classifier")]


def _score(_: HeadConfig, head: Layers) -> list[Step]:
    return [head.dense("score")]


_FAMILIES: Families[HeadConfig] = {
    "albert": _classifier,
    "bert": _classifier,
    "camembert": _classifier,
    "deberta": _classifier,
    "deberta-v2": _classifier,
    "distilbert": _classifier,
    "electra": _classifier,
    "llama": _score,
    "mistral": _score,
    "modernbert": modernbert,
    "mpnet": _classifier,
    "qwen2": _score,
    "qwen3": _score,
    "roberta": _classifier,
    "xlm-roberta": _classifier,
}
