"""The heads of checkpoints that were trained for a task."""

from collections.abc import Callable

from polybake.baking.sources.heads.masked_lm import masked_lm
from polybake.baking.sources.heads.sequence_classification import sequence_classification
from polybake.baking.sources.heads.token_heads import question_answering, token_classification
from polybake.baking.sources.source import HeadKind, TaskHead
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.base.files.model_folder import ModelFolder

__all__ = ["head_of_kind", "masked_lm", "open_head"]

_KINDS: dict[HeadKind, Callable[[ModelFolder], TaskHead]] = {
    "ForSequenceClassification": sequence_classification,
    "ForMaskedLM": masked_lm,
    "ForQuestionAnswering": question_answering,
    "ForTokenClassification": token_classification,
}


def open_head(folder: ModelFolder) -> TaskHead | None:
    """The head of a folder that transformers saved, by the name of its architecture."""
    (name, *_) = ModelConfig.of(folder).architectures or ("",)
    openers = (opener for kind, opener in _KINDS.items() if name.endswith(kind))
    opener = next(openers, None)
    return opener and opener(folder)


def head_of_kind(folder: ModelFolder, kind: HeadKind, columns: int) -> TaskHead:
    """The head of this kind, where config.json does not name it and may describe it."""
    if kind == "ForSequenceClassification":
        return sequence_classification(folder, columns)
    return _KINDS[kind](folder)
