"""sentence_bert_config.json: what sentence-transformers makes a Transformer module with.

Source: sentence-transformers ``Transformer.load_config`` and ``Transformer.__init__``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.sources.sentence_transformers.unsupported import unsupported

#: The file's name, by every version since 1.0.
_FILES = (
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_camembert_config.json",
    "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
)

_Values = dict[str, tuple[object, ...]]

_EITHER = (False, True)
_DTYPES = (None, "auto", "float32", "float16", "bfloat16")

#: What only says how the same numbers are computed, by each of two names of three settings.
_MODEL: _Values = {
    "trust_remote_code": _EITHER,
    "attn_implementation": (None, "eager", "sdpa", "flash_attention_2", "flash_attention_3"),
    "dtype": _DTYPES,
    "torch_dtype": _DTYPES,
    "add_pooling_layer": _EITHER,
    "low_cpu_mem_usage": _EITHER,
}
_PROCESSOR: _Values = {"trust_remote_code": _EITHER, "use_fast": (True,)}
_CONFIG: _Values = {"trust_remote_code": _EITHER, "use_cache": _EITHER}

_PASSED_ON: dict[str, _Values] = {
    "model_kwargs": _MODEL,
    "model_args": _MODEL,
    "processor_kwargs": _PROCESSOR,
    "tokenizer_args": _PROCESSOR,
    "config_kwargs": _CONFIG,
    "config_args": _CONFIG,
}

#: The values that change nothing; any other value, and any other key, is refused by its name.
_CHANGES_NOTHING: _Values = {
    "transformer_task": ("feature-extraction",),
    "module_output_name": ("token_embeddings",),
    "modality_config.text": ({"method": "forward", "method_output_name": "last_hidden_state"},),
    "processing_kwargs": (None, {}),
    "processing_kwargs.text.padding": (True, "longest"),
    "processing_kwargs.text.truncation": (True, "longest_first"),
    "processing_kwargs.text.add_special_tokens": (True,),
    "processing_kwargs.common.return_tensors": ("pt",),
    "unpad_inputs": (None, *_EITHER),
    "query_length": (None,),
    "document_length": (None,),
    "query_expansion": (None,),
    "tokenizer_name_or_path": (None,),
    **{f"{name}.{key}": one for name, keys in _PASSED_ON.items() for key, one in keys.items()},
}

#: Settings that are objects, and which of their keys a text meets; None stands for all.
_OBJECTS: dict[str, tuple[str, ...] | None] = {
    "modality_config": ("text", "message"),
    "processing_kwargs": ("text", "common"),
    "processing_kwargs.text": None,
    "processing_kwargs.common": None,
    **dict.fromkeys(_PASSED_ON),
}


@dataclass(frozen=True)
class TransformerSettings:
    """The settings that are baked.

    Attributes:
        max_seq_length: Tokens kept of a text; None leaves it to the tokenizer and the model.
        lowercase: Whether texts are lowered before the tokenizer's own normalizer.
    """

    max_seq_length: int | None
    lowercase: bool


def read_transformer_settings(body: ModelFolder) -> TransformerSettings:
    """Read the settings in a Transformer module's folder.

    A chat template counts where ``modality_config`` has messages: only then is it rendered.

    Raises:
        InputError: a setting changes the embeddings in a way that is not baked, or is unknown.
    """
    read = {name: body.settings(name) for name in _FILES}
    file = next((name for name, found in read.items() if found), _FILES[0])
    settings = read[file]
    limit = settings.pop("max_seq_length", None)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InputError(
            f"{body.path / file}: max_seq_length = {limit!r} is no whole number of tokens; "
            "set it to 1 or more, or remove it"
        )
    lowercase = settings.pop("do_lower_case", None)
    if lowercase not in (None, *_EITHER):
        raise unsupported(body, f"{file}: do_lower_case", lowercase, _EITHER)
    modalities = settings.get("modality_config")
    if isinstance(modalities, dict):
        settings["modality_config"] = {"text": None} | modalities
    for key, value in settings.items():
        for name, found in _leaves(key, value):
            known = _CHANGES_NOTHING.get(name, ())
            if found not in known:
                raise unsupported(body, f"{file}: {name}", found, known)
    return TransformerSettings(limit, bool(lowercase))


def _leaves(name: str, value: object) -> Iterator[tuple[str, object]]:
    """The settings that a text meets, each by its dotted name."""
    if name not in _OBJECTS or not isinstance(value, dict):
        yield name, value
        return
    met = _OBJECTS[name]
    for key, inner in value.items():
        if met is None or key in met:
            yield from _leaves(f"{name}.{key}", inner)
