"""The heads that give numbers for each token: one a label, or the beginning and end of an answer.

Source: transformers, ``ForTokenClassification`` and ``ForQuestionAnswering`` of each family, in
evaluation.
"""

from collections.abc import Callable
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
    steps = partial(head_steps, folder, "head of tokens", _OF_LABELS, HeadConfig)
    return TaskHead("ForTokenClassification", steps, labels)


def question_answering(folder: ModelFolder) -> TaskHead:
    """The head of a folder that transformers saved as ``ForQuestionAnswering``."""
    steps = partial(head_steps, folder, "head of answers", _OF_ANSWERS, HeadConfig)
    return TaskHead("ForQuestionAnswering", steps)


def _layer(name: str) -> Callable[[HeadConfig, Layers], list[Step]]:
    return lambda _, head: [head.dense(name)]


_ENCODERS = (
    *("albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "mpnet"),
    *("roberta", "xlm-roberta"),
)
_DECODERS = ("llama", "mistral", "qwen2", "qwen3")
_OF_LABELS: Families[HeadConfig] = {
    **dict.fromkeys(_ENCODERS, _layer("classifier")),
    **dict.fromkeys(_DECODERS, _layer("score")),
    "modernbert": modernbert,
}
_OF_ANSWERS: Families[HeadConfig] = {
    **dict.fromkeys(_ENCODERS, _layer("qa_outputs")),
    "modernbert": modernbert,
}
