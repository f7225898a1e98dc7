"""A CrossEncoder's folder: an encoder with a head that gives numbers of pairs."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator

from polybake.baking.sources.heads import open_head
from polybake.baking.sources.heads.sequence_classification import HeadConfig
from polybake.baking.sources.kind import SETTINGS
from polybake.baking.sources.sentence_transformers.logit_score import open_logit_score
from polybake.baking.sources.sentence_transformers.module import LOGIT_SCORE, Module
from polybake.baking.sources.sentence_transformers.module_recipe import module_recipe
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.baking.sources.sentence_transformers.saved_modules import FOLLOWING
from polybake.baking.sources.sentence_transformers.transformer import open_transformer
from polybake.baking.sources.sentence_transformers.transformer_settings import (
    CrossEncoderSettings,
    TransformerSettings,
)
from polybake.baking.sources.source import OpenEncoder, Source, TaskHead
from polybake.baking.sources.torch_classes import activation_of
from polybake.baking.steps import Dense, Pool, Step
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError


class _Settings(JsonModel, KnownKeys):
    """The settings that hold for a whole CrossEncoder, which is computed in float32 throughout."""

    passed_over: ClassVar[Collection[str]] = ("__version__", "model_type", "keep_in_fp32_modules")

    prompts: dict[str, str] | None = None
    default_prompt_name: str | None = None
    activation_fn: Annotated[str, AfterValidator(activation_of)] | None = None

    @classmethod
    def of(cls, folder: ModelFolder) -> Self:
        """Read the settings of a folder.

        Source: sentence-transformers ``CrossEncoder.predict``.
        """
        settings = folder.read(SETTINGS, cls)
        default = settings.default_prompt_name
        prompt = "" if default is None else (settings.prompts or {}).get(default)
        if prompt != "":
            raise InputError(
                f"{folder.path / SETTINGS}: default_prompt_name is {default!r}, whose prompt is "
                f"{prompt!r}, and prompts of a CrossEncoder are not baked; set "
                "default_prompt_name to null to have the scores without it"
            )
        return settings


def open_cross_encoder(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder of a CrossEncoder.

    Source: sentence-transformers ``CrossEncoder``.
    """
    transformer, *others = read_modules(folder, {})
    kinds = [module.kind for module in (transformer, *others)]
    if kinds == ["Transformer", LOGIT_SCORE]:
        return open_logit_score(folder, transformer, others[0], open_encoder)
    known = {*kinds[1:]} <= FOLLOWING.keys() and (kinds == ["Transformer"] or kinds[-1] == "Dense")
    if kinds[0] != "Transformer" or not known:
        raise InputError(
            f"{folder.path / 'modules.json'}: a CrossEncoder of {', '.join(kinds)} is not baked; "
            f"expected a Transformer, with a head of its own, with {LOGIT_SCORE} behind it, or "
            f"with modules behind it that end in a Dense and are of: {', '.join(FOLLOWING)}; "
            'export the whole model to ONNX, give the .onnx file, and say task = "rerank"'
        )
    body = folder.inner(transformer.path)
    settings = TransformerSettings if others else CrossEncoderSettings
    encoder, tokenizer = open_transformer(body, open_encoder, settings)
    head = _head_of_modules(folder, body, others) if others else open_head(body)
    return Source(encoder=encoder, tokenizer=tokenizer, folder=body, head=of_pairs(folder, head))


def of_pairs(folder: ModelFolder, head: TaskHead | None) -> TaskHead | None:
    """Return the head with what the CrossEncoder's settings say of its number."""
    settings = _Settings.of(folder)
    if head is None:
        return None
    relevance = settings.activation_fn or head.relevance
    return replace(head, relevance=relevance, of_pairs=True, unsaid="")


def _head_of_modules(folder: ModelFolder, body: ModelFolder, modules: Sequence[Module]) -> TaskHead:
    """Return the head that modules are, the last of which gives one number of a pair."""
    module_recipe(folder, modules, output="scores")  # refuses what is not baked

    def steps() -> list[Step]:
        parts = [FOLLOWING[module.kind].made(folder.inner(module.path)) for module in modules]
        columns = parts[-1].weight.shape[0] if isinstance(parts[-1], Dense) else 0
        if columns != 1:
            raise InputError(
                f"{folder.inner(modules[-1].path).path}: gives {columns} numbers of a pair, "
                "expected one; export the whole model to ONNX, give the .onnx file, and say task "
                '= "classify-pairs" and labels in [model]'
            )
        # Without a prompt a Pooling leaves nothing out.
        return [
            step.model_copy(update={"include_prompt": True}) if isinstance(step, Pool) else step
            for step in parts
        ]

    relevance = body.read("config.json", HeadConfig).relevance
    return TaskHead("ForSequenceClassification", steps, ("LABEL_0",), relevance=relevance)
