"""The settings in the folder of a Transformer module: sentence_bert_config.json.

Source: sentence-transformers ``Transformer.load_config`` and ``Transformer.__init__``.
"""

from collections.abc import Mapping
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import Field, field_validator

from polybake.baking.sources.sentence_transformers.message_template import Format
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.validation import JsonModel

#: Arguments of transformers' ``apply_chat_template`` that are no variables of the template.
_NO_VARIABLES = (
    *("padding", "truncation", "max_length", "return_tensors", "tokenize", "return_dict"),
    *("continue_final_message", "chat_template", "tools", "documents", "tokenizer_kwargs"),
    *("sanitize_control_tokens", "return_assistant_tokens_mask", "messages"),
)

Method = TypeVar("Method")

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
    method: Literal["forward"] = "forward"
    method_output_name: Literal["last_hidden_state"] = "last_hidden_state"


class _HeadMethod(JsonModel, extra="forbid"):
    method: Literal["forward"] = "forward"
    method_output_name: Literal["logits"] = "logits"


class _ClipMethod(JsonModel, extra="forbid"):
    method: Literal["get_text_features"] = "get_text_features"
    method_output_name: Literal["pooler_output"] | None = None


class _MessageMethod(JsonModel, extra="forbid"):
    method: Literal["forward"] = "forward"
    method_output_name: Literal["last_hidden_state", "logits"] = "last_hidden_state"
    format: Format = "auto"


class _Modalities(JsonModel, Generic[Method]):
    """How texts reach the model; with a key for messages a chat template would be rendered."""

    text: Method
    message: None = None


class _Messages(JsonModel, extra="forbid"):
    """Texts as messages; beside images a template is another file's, and tokenised otherwise."""

    text: object = None
    message: _MessageMethod = _MessageMethod()


class _CausalModalities(JsonModel):
    text: _HeadMethod = _HeadMethod()
    message: _MessageMethod | None = None


class _TextOptions(JsonModel, extra="forbid"):
    padding: Literal[True, "longest"] = True
    truncation: Literal[True, "longest_first"] = True
    add_special_tokens: Literal[True] = True
    return_tensors: Literal["pt"] = "pt"
    logits_to_keep: int = 1


class _Processing(JsonModel):
    """The options for texts, and the variables of a chat template; images have their own keys."""

    text: _TextOptions = _TextOptions()
    common: _TextOptions = _TextOptions()
    chat_template: dict[str, bool | int | float | str | None] = Field(default_factory=dict)

    @field_validator("chat_template")
    @classmethod
    def _are_variables(cls, variables: dict[str, object]) -> dict[str, object]:
        for key in variables:
            if key in _NO_VARIABLES or (key == "restore_suffix" and variables[key] is not True):
                raise ValueError(f"{key} changes how texts are cut or read, which is not baked")
        return {key: value for key, value in variables.items() if key != "restore_suffix"}


class BaseSettings(JsonModel, KnownKeys):
    """The settings that are baked, and settings whose allowed values change nothing.

    Attributes:
        max_seq_length: The most tokens of a text; None leaves it to the tokenizer and the model.
        do_lower_case: Whether texts are lowered before the tokenizer's own normalizer.
    """

    max_seq_length: Annotated[int, Field(gt=0)] | None = None
    do_lower_case: bool | None = None

    query_length: None = None
    document_length: None = None
    query_expansion: None = None
    processing_kwargs: _Processing | None = None
    unpad_inputs: bool | None = None
    tokenizer_name_or_path: None = None
    model_kwargs: _PassedOn = _PassedOn()
    model_args: _PassedOn = _PassedOn()
    processor_kwargs: _PassedOn = _PassedOn()
    tokenizer_args: _PassedOn = _PassedOn()
    config_kwargs: _PassedOn = _PassedOn()
    config_args: _PassedOn = _PassedOn()

    @property
    def variables(self) -> Mapping[str, object]:
        """The variables of the chat template."""
        return (self.processing_kwargs or _Processing()).chat_template


class _Lengths(BaseSettings):
    """Settings of a model whose queries and documents may have limits of their own.

    Attributes:
        query_length: The most tokens of a query; None is ``max_seq_length``.
        document_length: The most tokens of a document.
    """

    query_length: Annotated[int, Field(gt=0)] | None = None  # type: ignore[assignment] # wider
    document_length: Annotated[int, Field(gt=0)] | None = None  # type: ignore[assignment] # wider


class TransformerSettings(_Lengths):
    """The settings of an encoder of embeddings."""

    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    module_output_name: Literal["token_embeddings"] = "token_embeddings"
    modality_config: _Modalities[_TextMethod] = _Modalities(text=_TextMethod())


class ClipSettings(BaseSettings):
    """The settings of a CLIPModel, of which texts reach the text tower alone."""

    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    module_output_name: Literal["sentence_embedding"] = "sentence_embedding"
    modality_config: _Modalities[_ClipMethod] = _Modalities(text=_ClipMethod())


class CrossEncoderSettings(BaseSettings):
    """The settings of a CrossEncoder, whose module gives the numbers of its head."""

    transformer_task: Literal["sequence-classification"] = "sequence-classification"
    module_output_name: Literal["scores"] = "scores"
    modality_config: _Modalities[_HeadMethod] = _Modalities(text=_HeadMethod())


class MaskedLMSettings(_Lengths):
    """The settings of a masked language model, whose head's numbers replace the embeddings."""

    transformer_task: Literal["fill-mask"] = "fill-mask"
    module_output_name: Literal["token_embeddings"] = "token_embeddings"
    modality_config: _Modalities[_HeadMethod] = _Modalities(text=_HeadMethod())


class MessageSettings(BaseSettings):
    """The settings of an encoder of embeddings to which each text is a message."""

    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    module_output_name: Literal["token_embeddings"] = "token_embeddings"
    modality_config: _Messages = _Messages()


class CausalLMSettings(BaseSettings):
    """The settings of a CrossEncoder's language model, whose logits another module reads."""

    transformer_task: Literal["text-generation"] = "text-generation"
    module_output_name: Literal["causal_logits"] = "causal_logits"
    modality_config: _CausalModalities | None = None


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


class MultiVectorSettings(TransformerSettings):
    """The settings of an encoder whose queries may be filled up."""

    query_expansion: QueryExpansion | None = None  # type: ignore[assignment] # wider
