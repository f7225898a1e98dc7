"""transformers' tokenizer classes by name, the models that have them, and what they make anew."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tokenizers import Tokenizer

from polybake.baking.tokenizer import class_parts
from polybake.baking.tokenizer.class_parts import ClassParts, MakeParts
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.baking.tokenizer.tokenizer_json import Component, TokenizerJson
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

Edge = tuple[str, str]
#: A function that returns whether tokenizer.json does what a setting asks for.
Says = Callable[[TokenizerJson], bool]


@dataclass(frozen=True)
class RebuiltClass:
    """A class that takes tokenizer.json's vocabulary and, in transformers 5, makes the rest anew.

    Attributes:
        make: Makes the parts that decide ids.
        first: The key and default of the token before a text, if the class sets it.
        last: The key and default of the token behind a text, if the class sets it.
        unknown: The default of ``unk_token``, if the class sets the model's.
        flags: For each key its default, and the check of tokenizer.json.
    """

    make: MakeParts
    first: Edge | None = None
    last: Edge | None = None
    unknown: str | None = None
    flags: Mapping[str, tuple[bool, Says]] = field(default_factory=dict)

    def parts(self, config: TokenizerConfig, data: TokenizerJson) -> ClassParts:
        """Return the parts that transformers 5 makes, with the file's table of replacements."""
        component = next(
            (part for part in data.parts("normalizer") if part.type == "Precompiled"), None
        )
        text = "" if component is None else str(component.get("precompiled_charsmap") or "")
        return self.make(config, base64.b64decode(text))

    def fits(self, data: TokenizerJson) -> bool:
        """Return whether tokenizer.json has this class's type of model.

        For another type transformers 5 makes this class's model of the vocabulary all the same, and
        transformers 4 kept tokenizer.json as it was.
        """
        model = self.make(TokenizerConfig(), b"").model
        return "vocab" in data.model and data.model.get("type", model) == model

    def rebuild(self, config: TokenizerConfig, data: TokenizerJson) -> TokenizerJson:
        """Return tokenizer.json as both versions of transformers change it.

        Version 4 changes the file's BertNormalizer alone, and fails where there is no normalizer.
        """
        for key, (default, says) in self.flags.items():
            if config.flag(key, default=default) != (value := says(data)):
                raise config.refused(key, f"{str(value).lower()} as tokenizer.json has it")
        parts = self.parts(config, data)
        if parts.model == "BPE":
            return data.model_copy(update={"model": {**data.model, "dropout": None}})
        if parts.model != "WordPiece":
            return data
        unknown = data.model.get("unk_token")
        if (config.token("unk_token") or self.unknown) != unknown:
            raise config.refused("unk_token", f"{unknown!r} as tokenizer.json has it")
        saved = data.normalizer
        if parts.normalizer is None or (saved is not None and saved.type != "BertNormalizer"):
            return data
        normalizer = json.loads(parts.normalizer.__getstate__())
        if saved is not None:
            normalizer["clean_text"] = saved.get("clean_text", True)
        return data.model_copy(update={"normalizer": Component.model_validate(normalizer)})

    def check_edges(self, config: TokenizerConfig, tokenizer: Tokenizer) -> None:
        """Compare the tokens that tokenizer.json's post-processor puts around a text."""
        edges = ((self.first, 0), (self.last, -1))
        count = tokenizer.num_special_tokens_to_add(False)
        wanted = sum(edge is not None for edge, _ in edges)
        ids = tokenizer.encode("").ids
        for edge, index in edges:
            if edge is None:
                continue
            key, default = edge
            content = config.token(key) or default
            token = tokenizer.id_to_token(ids[index]) if count == wanted else None
            if token != content:
                expected = repr(token) if token else f"a post_processor with {content!r}"
                raise config.refused(key, f"{expected} in tokenizer.json")


#: The class of a model that names no class, by model_type.
_OF_MODELS = {
    model: name
    for name, models in (
        ("AlbertTokenizer", "albert"),
        ("BartTokenizer", "bart"),
        ("BertTokenizer", "bert convbert distilbert electra ernie layoutlm megatron-bert"),
        ("BertTokenizer", "mobilebert nomic_bert squeezebert"),
        ("CamembertTokenizer", "camembert"),
        ("CLIPTokenizer", "clip clip_text_model"),
        ("DebertaTokenizer", "deberta"),
        ("DebertaV2Tokenizer", "deberta-v2"),
        ("GemmaTokenizer", "gemma gemma2 gemma3 gemma3_text"),
        ("GPT2Tokenizer", "gpt2"),
        ("MPNetTokenizer", "mpnet"),
        ("Qwen2Tokenizer", "qwen2 qwen3"),
        ("RobertaTokenizer", "bart data2vec-text ibert longformer roberta roberta-prelayernorm"),
        ("SiglipTokenizer", "siglip siglip_text_model"),
        ("T5Tokenizer", "mt5 t5"),
        ("XLMRobertaTokenizer", "gte jina_embeddings_v3 xlm-roberta xmod"),
    )
    for model in models.split()
}
#: Models whose tokenizer.json is kept, whatever class they name.
_KEPT = ("mistral", "modernbert", "modernbert-decoder", "nystromformer", "umt5", "xlm-roberta-xl")
_BACKEND = "TokenizersBackend"
#: The classes that keep it; the second is the first one's name in transformers 4.
KEEPING = (_BACKEND, "PreTrainedTokenizer", "ConvBertTokenizer", "FNetTokenizer")
#: Models that get their own class, whatever class they name.
_NOT_DECLARED = ("qwen2",)


#: Classes whose pairs have types of tokens; the other known classes give none.
_TYPED = "Bert Deberta DebertaV2 Electra LayoutLM Lxmert MobileBert SqueezeBert"
#: The class of which that is so since transformers 5 alone.
_TYPED_IN_4 = "AlbertTokenizer"


def gives_types(folder: ModelFolder) -> bool:
    """Return whether the tokens of a pair have types.

    Source: ``model_input_names`` of transformers' tokenizer classes.
    """
    config, model = TokenizerConfig.of(folder), ModelConfig.of(folder)
    if config.model_input_names is not None:
        return "token_type_ids" in config.model_input_names
    name = class_of(config, model)
    if name in CLASSES:
        return name.removesuffix("Tokenizer") in _TYPED.split()
    declared = config.tokenizer_class or model.tokenizer_class
    if declared == _BACKEND:  # transformers 4 has no class of this name
        return False
    raise InputError(
        f"{folder.path / 'tokenizer_config.json'}: has no model_input_names, and its class "
        f"{declared or name} leaves open whether the tokens of a pair have types; set "
        "model_input_names to what the model was trained with: "
        '["input_ids", "token_type_ids", "attention_mask"] gives types, as '
        'PreTrainedTokenizerFast of transformers 4 did; ["input_ids", "attention_mask"] gives '
        "none, as transformers 5 does"
    )


def gave_types(folder: ModelFolder) -> bool:
    """Return whether transformers 4 gave types to the tokens of a pair, and 5 gives none."""
    config = TokenizerConfig.of(folder)
    name = class_of(config, ModelConfig.of(folder))
    return config.model_input_names is None and name == _TYPED_IN_4


def class_of(config: TokenizerConfig, model: ModelConfig) -> str:
    """Return the name of the class that transformers takes, without ``Fast``.

    Source: transformers ``AutoTokenizer.from_pretrained``.
    """
    kind = model.model_type or ""
    if kind in _KEPT:
        return _BACKEND
    declared = config.tokenizer_class or model.tokenizer_class
    if declared is None or kind in _NOT_DECLARED:
        declared = _OF_MODELS.get(kind, _BACKEND)
    return declared.removesuffix("Fast")


def rebuilt_class(config: TokenizerConfig, model: ModelConfig) -> RebuiltClass | None:
    """Return the class that transformers takes; None if it keeps tokenizer.json as it is."""
    return CLASSES.get(class_of(config, model))


def _has(component: Literal["normalizer", "pre_tokenizer"], kind: str) -> Says:
    return lambda data: any(part.type == kind for part in data.parts(component))


def _byte_prefix(data: TokenizerJson) -> bool:
    return any(
        part.type == "ByteLevel" and part.get("add_prefix_space") is True
        for part in data.parts("pre_tokenizer")
    )


def _piece_prefix(data: TokenizerJson) -> bool:
    """Metaspace's, which older files write as ``add_prefix_space``."""
    return any(
        part.type == "Metaspace"
        and part.get("prepend_scheme", "always") != "never"
        and part.get("add_prefix_space", True) is True
        for part in data.parts("pre_tokenizer")
    )


_CLS, _SEP = ("cls_token", "[CLS]"), ("sep_token", "[SEP]")
_BOS, _EOS = ("bos_token", "<s>"), ("eos_token", "</s>")
_START, _END = ("bos_token", "<|startoftext|>"), ("eos_token", "<|endoftext|>")
_CLS_AS_BOS, _SEP_AS_EOS = ("cls_token", "<s>"), ("sep_token", "</s>")
_BYTES = {"add_prefix_space": (False, _byte_prefix)}
_PIECES = {"add_prefix_space": (True, _piece_prefix)}
_ALBERT = {
    "do_lower_case": (True, _has("normalizer", "Lowercase")),
    "keep_accents": (False, lambda data: not _has("normalizer", "StripAccents")(data)),
}
_DEBERTA = {
    "do_lower_case": (False, _has("normalizer", "Lowercase")),
    "split_by_punct": (False, _has("pre_tokenizer", "Punctuation")),
}
_BERTS = "Bert DistilBert Electra LayoutLM Lxmert MobileBert SqueezeBert"

#: The classes by name, without ``Fast``.
CLASSES = {
    f"{name}Tokenizer": entry
    for names, entry in (
        (_BERTS, RebuiltClass(class_parts.bert, _CLS, _SEP, "[UNK]")),
        ("MPNet", RebuiltClass(class_parts.bert, _CLS_AS_BOS, _SEP_AS_EOS, "[UNK]")),
        (
            "Bart LED Longformer Roberta",
            RebuiltClass(class_parts.in_bytes, _CLS_AS_BOS, _SEP_AS_EOS, flags=_BYTES),
        ),
        ("CLIP", RebuiltClass(class_parts.clip, _START, _END)),
        ("Deberta", RebuiltClass(class_parts.in_bytes, _CLS, _SEP, flags=_BYTES)),
        ("GPT2", RebuiltClass(class_parts.in_bytes, flags=_BYTES)),
        ("Qwen2", RebuiltClass(class_parts.qwen2, flags=_BYTES)),
        ("Camembert", RebuiltClass(class_parts.camembert, _BOS, _EOS, flags=_PIECES)),
        ("XLMRoberta", RebuiltClass(class_parts.xlm_roberta, _BOS, _EOS, flags=_PIECES)),
        ("T5", RebuiltClass(class_parts.t5, last=_EOS)),
        ("Albert", RebuiltClass(class_parts.albert, _CLS, _SEP, flags=_ALBERT)),
        ("DebertaV2", RebuiltClass(class_parts.deberta_v2, _CLS, _SEP, flags=_DEBERTA)),
        ("Gemma", RebuiltClass(class_parts.gemma)),
        ("Llama", RebuiltClass(class_parts.llama)),
    )
    for name in names.split()
}
