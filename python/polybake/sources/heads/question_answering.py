"""The head that says of each token whether an answer begins or ends with it.

Source: transformers, ``ForQuestionAnswering`` of each family, in evaluation.
"""

from functools import partial

from polybake.files.model_folder import ModelFolder
from polybake.sources.heads.families import Families, head_steps
from polybake.sources.heads.layers import Layers
from polybake.sources.heads.sequence_classification import HeadConfig, modernbert
from polybake.sources.source import Head
from polybake.steps import Step


def question_answering(folder: ModelFolder) -> Head:
    """The head of a folder that transformers saved as ``ForQuestionAnswering``."""
    steps = partial(head_steps, folder, "head of answers", _FAMILIES, HeadConfig)
    return Head("ForQuestionAnswering", steps)


def _outputs(_: HeadConfig, head: Layers) -> list[Step]:
    return [head.dense("qa_outputs")]


_FAMILIES: Families[HeadConfig] = {
    "albert": _outputs,
    "bert": _outputs,
    "camembert": _outputs,
    "deberta-v2": _outputs,
    "distilbert": _outputs,
    "electra": _outputs,
    "modernbert": modernbert,
    "mpnet": _outputs,
    "roberta": _outputs,
    "xlm-roberta": _outputs,
}
