"""A Transformer module: its sentence_bert_config.json, its tokenizer and its encoder.

Source: sentence-transformers ``Transformer.load_config`` and ``Transformer.__init__``.
"""

from typing import Annotated, Literal, TypeVar

from pydantic import Field, field_validator

from polybake.baking.sources.sentence_transformers.pair_template import Format
from polybake.baking.sources.sentence_transformers.remedy import OWN_STEPS
from polybake.baking.sources.source import Encoder, OpenEncoder
from polybake.baking.sources.tokenizer import open_tokenizer
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

#: The file's name, by every version since 1.0.
_FILES = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)

Settings = TypeVar("Settings", bound="BaseSettings")

#: Arguments of transformers' ``apply_chat_template`` that are no variables of the template.
_NO_VARIABLES = (
    *("padding", "truncation", "max_length", "return_tensors", "tokenize", "return_dict"),
    *("continue_final_message", "chat_template", "tools", "documents", "tokenizer_kwargs"),
    *("sanitize_control_tokens", "return_assistant_tokens_mask", "messages"),
)

_Attention = Literal["eager", "sdpa", "flash_attention_2", "flash_attention_3"]
_Dtype = Literal["auto", "float32", "float16", "bfloat16"]


class _PassedOn(JsonModel, extra="forbid"):
    """Arguments that are passed to transformers for a model, a tokenizer or a configuration."""

    trust_remote_code: bool = False
    attn_implementation: _Attention | None = None
    dtype: _Dtype | None = None
    torch_dtype: _Dtype | None = None
    add_pooling_layer: bool = False
    low_cpu_mem_usage: bool = False
    use_fast: Literal[True] = True
    use_cache: bool = False


class _TextMethod(JsonModel, extra="forbid"):
    method: Literal["forward"]
    method_output_name: Literal["last_hidden_state"]


_TEXT = _TextMethod(method="forward", method_output_name="last_hidden_state")


class _Modalities(JsonModel):
    """How texts reach the model; with a key for messages a chat template would be rendered."""

    text: _TextMethod
    message: None = None


class _HeadMethod(JsonModel, extra="forbid"):
    method: Literal["forward"]
    method_output_name: Literal["logits"]


_HEAD = _HeadMethod(method="forward", method_output_name="logits")


class _HeadModalities(JsonModel):
    text: _HeadMethod
    message: None = None


class _TextOptions(JsonModel, extra="forbid"):
    padding: Literal[True, "longest"] = True
    truncation: Literal[True, "longest_first"] = True
    add_special_tokens: Literal[True] = True
    return_tensors: Literal["pt"] = "pt"


class _Processing(JsonModel):
    """The options for texts; images and chats have their own keys."""

    text: _TextOptions = _TextOptions()
    common: _TextOptions = _TextOptions()


class BaseSettings(JsonModel, KnownKeys):
    """The settings that are baked, and settings whose allowed values change nothing.

    Attributes:
        max_seq_length: The most tokens of a text; None leaves it to the tokenizer and the model.
        do_lower_case: Whether texts are lowered before the tokenizer's own normalizer.
    """

    max_seq_length: Annotated[int, Field(gt=0)] | None = None
    do_lower_case: bool | None = None

    processing_kwargs: _Processing | None = None
    unpad_inputs: bool | None = None
    tokenizer_name_or_path: None = None
    model_kwargs: _PassedOn = _PassedOn()
    model_args: _PassedOn = _PassedOn()
    processor_kwargs: _PassedOn = _PassedOn()
    tokenizer_args: _PassedOn = _PassedOn()
    config_kwargs: _PassedOn = _PassedOn()
    config_args: _PassedOn = _PassedOn()


class _Lengths(BaseSettings):
    """Settings of a model whose queries and documents may have limits of their own.

    Attributes:
        query_length: The most tokens of a query; None is ``max_seq_length``.
        document_length: The most tokens of a document.
    """

    query_length: Annotated[int, Field(gt=0)] | None = None
    document_length: Annotated[int, Field(gt=0)] | None = None


class TransformerSettings(_Lengths):
    """The settings of an encoder of embeddings."""

    query_expansion: None = None

    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    module_output_name: Literal["token_embeddings"] = "token_embeddings"
    modality_config: _Modalities = _Modalities(text=_TEXT)


class _ClipMethod(JsonModel, extra="forbid"):
    method: Literal["get_text_features"]
    method_output_name: Literal["pooler_output"] | None = None


class _ClipModalities(JsonModel):
    text: _ClipMethod = _ClipMethod(method="get_text_features")
    message: None = None


class ClipSettings(BaseSettings):
    """The settings of a CLIPModel, of which texts reach the text tower alone."""

    query_length: None = None
    document_length: None = None
    query_expansion: None = None

    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    module_output_name: Literal["sentence_embedding"] = "sentence_embedding"
    modality_config: _ClipModalities = _ClipModalities()


class CrossEncoderSettings(BaseSettings):
    """The settings of a CrossEncoder, whose module gives the numbers of its head."""

    query_length: None = None
    document_length: None = None
    query_expansion: None = None

    transformer_task: Literal["sequence-classification"] = "sequence-classification"
    module_output_name: Literal["scores"] = "scores"
    modality_config: _HeadModalities = _HeadModalities(text=_HEAD)


class MaskedLMSettings(_Lengths):
    """The settings of a masked language model, whose head's numbers replace the embeddings."""

    query_expansion: None = None

    transformer_task: Literal["fill-mask"] = "fill-mask"
    module_output_name: Literal["token_embeddings"] = "token_embeddings"
    modality_config: _HeadModalities = _HeadModalities(text=_HEAD)


class MessageMethod(_HeadMethod):
    """How a pair's two messages reach the model, through its chat template."""

    format: Format = "auto"


class _CausalModalities(JsonModel):
    text: _HeadMethod = _HEAD
    message: MessageMethod | None = None


class _CausalText(_TextOptions):
    logits_to_keep: int = 1


class _CausalProcessing(JsonModel):
    """The options for texts, and the variables of the chat template."""

    text: _CausalText = _CausalText()
    common: _TextOptions = _TextOptions()
    chat_template: dict[str, bool | int | float | str | None] = Field(default_factory=dict)

    @field_validator("chat_template")
    @classmethod
    def _are_variables(cls, given: dict[str, object]) -> dict[str, object]:
        for key in given:
            if key in _NO_VARIABLES or (key == "restore_suffix" and given[key] is not True):
                raise ValueError(f"{key} changes how texts are cut or read, which is not baked")
        return {key: value for key, value in given.items() if key != "restore_suffix"}


class CausalLMSettings(BaseSettings):
    """The settings of a CrossEncoder's language model, whose logits another module reads."""

    query_length: None = None
    document_length: None = None
    query_expansion: None = None

    transformer_task: Literal["text-generation"] = "text-generation"
    module_output_name: Literal["causal_logits"] = "causal_logits"
    modality_config: _CausalModalities | None = None
    processing_kwargs: _CausalProcessing | None = None  # type: ignore[assignment] # more of it


class QueryExpansion(JsonModel, extra="forbid"):
    """How short queries are filled up.

    Attributes:
        strategy: ``fixed`` also cuts longer queries to ``length``; ``min`` does not.
        attend: Whether the encoder attends to the filling tokens.
        token: The filling token; None is the mask token.
        length: The tokens of a query.
    """

    strategy: Literal["fixed", "min"]
    attend: bool = False
    token: str | None = None
    length: Annotated[int, Field(gt=0)]


class MultiVectorSettings(_Lengths):
    """The settings of an encoder whose queries and documents have their own limits."""

    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    module_output_name: Literal["token_embeddings"] = "token_embeddings"
    modality_config: _Modalities = _Modalities(text=_TEXT)
    query_expansion: QueryExpansion | None = None


class _TransformerTask(JsonModel):
    """The part of a model that a Transformer module runs."""

    transformer_task: str = "feature-extraction"


def read_transformer_settings(body: ModelFolder, kind: type[Settings]) -> Settings:
    """Read the settings in a Transformer module's folder: of the first file that has any.

    Raises:
        InputError: a setting changes the embeddings in a way that is not baked, or is unknown.
    """
    read = (body.read(name, kind, remedy=OWN_STEPS) for name in _FILES)
    return next((one for one in read if one.model_fields_set), kind())


def is_masked_lm(body: ModelFolder) -> bool:
    """Whether a Transformer module runs the head of its masked language model, too."""
    return any(body.read(name, _TransformerTask).transformer_task == "fill-mask" for name in _FILES)


def open_transformer(
    body: ModelFolder,
    open_encoder: OpenEncoder,
    kind: type[BaseSettings] = TransformerSettings,
) -> tuple[Encoder, BakedTokenizer]:
    """Open the folder of a Transformer module.

    Args:
        body: The folder.
        open_encoder: Finds the encoder in it.
        kind: The settings that it may have.

    Raises:
        InputError: a setting is not baked, or the tokenizer or the encoder is not supported.
    """
    settings = read_transformer_settings(body, kind)
    limit, lowercase = settings.max_seq_length, settings.do_lower_case is True
    tokenizer = open_tokenizer(body, max_seq_length=limit, lowercase=lowercase)
    return open_encoder(body, tokenizer), tokenizer
