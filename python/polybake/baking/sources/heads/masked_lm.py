"""The head that gives each token of a text a number for every token of the vocabulary.

Source: transformers, ``ForMaskedLM`` of each family, in evaluation.
"""

from functools import partial

from polybake.baking.encoders.encoder_config import Epsilon, HiddenAct
from polybake.baking.sources.heads.families import Families, head_steps
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.sources.source import TaskHead
from polybake.baking.steps import Step
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

_TABLE = "embeddings.word_embeddings.weight"


class MaskedLMConfig(JsonModel):
    """The keys of config.json that decide what a head computes, with transformers' defaults."""

    tie_word_embeddings: bool = True
    hidden_act: HiddenAct = "gelu"
    activation: HiddenAct = "gelu"
    classifier_activation: HiddenAct = "gelu"
    layer_norm_eps: Epsilon = 1e-12
    norm_eps: Epsilon = 1e-5


#: Logits alone are no weights of tokens.
_POOLED = (
    "export it to ONNX with its pooling, as float32 sentence_embedding [batch, vocabulary], give "
    'the .onnx file, and say task = "sparse" in [model] and steps = [] before it'
)


def masked_lm(folder: ModelFolder) -> TaskHead:
    """The head of a folder that transformers saved as ``ForMaskedLM``; nothing is read yet."""
    what = "masked language model"
    steps = partial(head_steps, folder, what, _FAMILIES, MaskedLMConfig, _POOLED)
    return TaskHead("ForMaskedLM", steps)


def _vocabulary(
    config: MaskedLMConfig, head: Layers, decoder: str, bias: str, table: str = _TABLE
) -> Step:
    """Return the last layer: the table of tokens again, or a layer of its own."""
    if config.tie_word_embeddings:
        return head.tied(table, bias)
    own = head.dense(decoder)
    return own if own.bias is not None else head.tied(f"{decoder}.weight", bias)


def _bert(config: MaskedLMConfig, head: Layers) -> list[Step]:
    return [
        head.dense("cls.predictions.transform.dense", config.hidden_act),
        head.layer_norm("cls.predictions.transform.LayerNorm", config.layer_norm_eps),
        _vocabulary(config, head, "cls.predictions.decoder", "cls.predictions.bias"),
    ]


def _roberta(config: MaskedLMConfig, head: Layers) -> list[Step]:
    return [
        head.dense("lm_head.dense", "gelu"),
        head.layer_norm("lm_head.layer_norm", config.layer_norm_eps),
        _vocabulary(config, head, "lm_head.decoder", "lm_head.bias"),
    ]


_FAMILIES: Families[MaskedLMConfig] = {
    "albert": lambda config, head: [
        head.dense("predictions.dense", config.hidden_act),
        head.layer_norm("predictions.LayerNorm", config.layer_norm_eps),
        _vocabulary(config, head, "predictions.decoder", "predictions.bias"),
    ],
    "bert": _bert,
    "camembert": _roberta,
    "distilbert": lambda config, head: [
        head.dense("vocab_transform", config.activation),
        head.layer_norm("vocab_layer_norm", 1e-12),
        _vocabulary(config, head, "vocab_projector", "vocab_projector.bias"),
    ],
    "electra": lambda config, head: [
        head.dense("generator_predictions.dense", "gelu"),
        head.layer_norm("generator_predictions.LayerNorm", config.layer_norm_eps),
        _vocabulary(config, head, "generator_lm_head", "generator_lm_head.bias"),
    ],
    "modernbert": lambda config, head: [
        head.dense("head.dense", config.classifier_activation),
        head.layer_norm("head.norm", config.norm_eps),
        _vocabulary(config, head, "decoder", "decoder.bias", "embeddings.tok_embeddings.weight"),
    ],
    "mpnet": _roberta,
    "roberta": _roberta,
    "xlm-roberta": _roberta,
}
