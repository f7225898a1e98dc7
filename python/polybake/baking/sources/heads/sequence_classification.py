"""The head that gives a text, or a pair of texts, a number for each label.

Source: transformers, ``ForSequenceClassification`` of each family, in evaluation; for ``new`` the
class of this name in the checkpoints' own code.
"""

import math
from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from polybake.baking.encoders.encoder_config import Epsilon, HiddenAct
from polybake.baking.sources.heads.families import Families, head_steps
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.sources.source import TaskHead
from polybake.baking.sources.torch_classes import activation_of
from polybake.baking.steps import LeaveOut, Pool, Scale, Step
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError

ProblemType = Literal["regression", "single_label_classification", "multi_label_classification"]


#: An activation by the path of PyTorch's class, read as a name of ours.
TorchActivation = Annotated[str, AfterValidator(activation_of)]


class CrossEncoderKeys(JsonModel):
    """The keys that sentence-transformers 4 and 5 add to config.json."""

    activation_fn: TorchActivation | None = None


class HeadConfig(JsonModel):
    """The keys of config.json that decide what a head computes, with transformers' defaults."""

    id2label: dict[str, str] = Field(default={"0": "LABEL_0", "1": "LABEL_1"}, min_length=1)
    problem_type: ProblemType | None = None
    pad_token_id: int | None = Field(default=None, ge=0)
    pooler_hidden_act: HiddenAct = "gelu"
    classifier_pooling: Literal["cls", "mean"] = "cls"
    classifier_activation: HiddenAct = "gelu"
    norm_eps: Epsilon = 1e-5
    #: Of NVIDIA's rerankers.
    pooling: str = "avg"
    temperature: float = 1.0
    sentence_transformers: CrossEncoderKeys | None = None
    sbert_ce_default_activation_function: TorchActivation | None = None

    @field_validator("id2label")
    @classmethod
    def _are_counted(cls, labels: dict[str, str]) -> dict[str, str]:
        if sorted(labels) != sorted(map(str, range(len(labels)))):
            raise ValueError(f"expected the keys 0 to {len(labels) - 1}, found {', '.join(labels)}")
        return labels

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each number that the head gives, in their order."""
        return tuple(self.id2label[str(number)] for number in range(len(self.id2label)))

    @property
    def relevance(self) -> str:
        """The function that makes a relevance of the only number.

        Source: sentence-transformers ``CrossEncoder.get_default_activation_fn``.
        """
        new = self.sentence_transformers and self.sentence_transformers.activation_fn
        return new or self.sbert_ce_default_activation_function or "sigmoid"

    @property
    def of_pairs(self) -> bool:
        """Whether a CrossEncoder saved it: nothing else adds these keys."""
        old = self.sbert_ce_default_activation_function
        return self.sentence_transformers is not None or old is not None

    @property
    def scores(self) -> Literal["softmax", "sigmoid"] | None:
        """The function that makes scores of the numbers.

        Source: transformers ``TextClassificationPipeline.postprocess``.
        """
        if self.problem_type == "regression":
            return None
        several = self.problem_type == "multi_label_classification"
        return "sigmoid" if several or len(self.id2label) == 1 else "softmax"


def sequence_classification(folder: ModelFolder, columns: int | None = None) -> TaskHead:
    """The head of a folder that transformers saved as ``ForSequenceClassification``."""
    config = folder.read("config.json", HeadConfig)
    if columns not in (None, len(config.id2label)):
        unnamed = {str(index): f"LABEL_{index}" for index in range(columns or 0)}
        config = config.model_copy(update={"id2label": unnamed})
    steps = partial(head_steps, folder, "head", _FAMILIES, HeadConfig)
    return TaskHead(
        "ForSequenceClassification",
        steps,
        config.labels,
        config.scores,
        config.relevance,
        config.of_pairs,
    )


_FIRST = Pool(mode="cls")


def _roberta(_: HeadConfig, head: Layers) -> list[Step]:
    return [_FIRST, head.dense("classifier.dense", "tanh"), head.dense("classifier.out_proj")]


def _pooler(_: HeadConfig, head: Layers) -> list[Step]:
    return [_FIRST, head.dense("pooler.dense", "tanh"), head.dense("classifier")]


def _deberta(config: HeadConfig, head: Layers) -> list[Step]:
    pooler = head.dense("pooler.dense", config.pooler_hidden_act)
    return [_FIRST, pooler, head.dense("classifier")]


def modernbert(config: HeadConfig, head: Layers) -> list[Step]:
    """ModernBERT's layers, the same for texts and for tokens."""
    return [
        head.dense("head.dense", config.classifier_activation),
        head.layer_norm("head.norm", config.norm_eps),
        head.dense("classifier"),
    ]


def _last_token(config: HeadConfig, head: Layers) -> list[Step]:
    """Return a decoder's head on the last token; padding tokens in the text do not count."""
    padding = [] if config.pad_token_id is None else [LeaveOut(ids=(config.pad_token_id,))]
    return [*padding, Pool(mode="lasttoken"), head.dense("score")]


#: NVIDIA's names of poolings.
_POOLINGS = {"avg": "mean", "cls": "cls", "last": "lasttoken"}


def _nvidia(config: HeadConfig, head: Layers) -> list[Step]:
    """Return the head of NVIDIA's rerankers.

    Source: ``LlamaBidirectionalForSequenceClassification`` of their repositories.
    """
    if config.pooling not in _POOLINGS or not 0 < config.temperature < math.inf:
        raise InputError(
            f"{head.files[0].parent / 'config.json'}: pooling = {config.pooling!r}, temperature = "
            f"{config.temperature}; expected {', '.join(_POOLINGS)} and a number above 0; "
            "download config.json again"
        )
    pool = Pool.model_validate({"mode": _POOLINGS[config.pooling]})
    return [pool, head.dense("score"), Scale(factor=1 / config.temperature)]


_FAMILIES: Families[HeadConfig] = {
    "albert": lambda _, head: [_FIRST, head.dense("pooler", "tanh"), head.dense("classifier")],
    # The last token ends the text, or the pair: the last of those that the library looks for.
    "bart": lambda _, head: [
        Pool(mode="lasttoken"),
        head.dense("classification_head.dense", "tanh"),
        head.dense("classification_head.out_proj"),
    ],
    "bert": _pooler,
    "camembert": _roberta,
    "deberta": _deberta,
    "deberta-v2": _deberta,
    "distilbert": lambda _, head: [
        _FIRST,
        head.dense("pre_classifier", "relu"),
        head.dense("classifier"),
    ],
    "electra": lambda _, head: [
        _FIRST,
        head.dense("classifier.dense", "gelu"),
        head.dense("classifier.out_proj"),
    ],
    "gte": _pooler,
    "jina_bert": _pooler,
    "jina_bert_qk": _pooler,
    "llama": _last_token,
    "llama_bidirec": _nvidia,
    "mistral": _last_token,
    "modernbert": lambda config, head: [
        Pool(mode=config.classifier_pooling),
        *modernbert(config, head),
    ],
    "mpnet": _roberta,
    "new": _pooler,
    "qwen2": _last_token,
    "qwen3": _last_token,
    "roberta": _roberta,
    "xlm-roberta": _roberta,
}
