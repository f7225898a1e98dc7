"""The head that scores each token as the beginning and as the end of an answer.

Source: transformers, ``ForQuestionAnswering`` of each family, in evaluation.
"""

from functools import partial

from polybake.baking.sources.heads.families import Families, head_steps
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.sources.heads.sequence_classification import HeadConfig, modernbert
from polybake.baking.sources.source import TaskHead
from polybake.baking.steps import Step
from polybake.base.files.model_folder import ModelFolder


def question_answering(folder: ModelFolder) -> TaskHead:
    """The head of a folder that transformers saved as ``ForQuestionAnswering``."""
    steps = partial(head_steps, folder, "head of answers", _FAMILIES, HeadConfig)
    return TaskHead("ForQuestionAnswering", steps)


def _outputs(_: HeadConfig, head: Layers) -> list[Step]:
    return [head.dense("qa_outputs")]


_FAMILIES: Families[HeadConfig] = {
    "albert": _outputs,
    "bert": _outputs,
    "camembert": _outputs,
    "deberta": _outputs,
    "deberta-v2": _outputs,
    "distilbert": _outputs,
    "electra": _outputs,
    "modernbert": modernbert,
    "mpnet": _outputs,
    "roberta": _outputs,
    "xlm-roberta": _outputs,
}
