"""A CrossEncoder's folder: an encoder with a head that gives numbers of pairs."""

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from polybake.baking.sources.heads import open_head
from polybake.baking.sources.kind import SETTINGS
from polybake.baking.sources.sentence_transformers.logit_score import open_logit_score
from polybake.baking.sources.sentence_transformers.module import LOGIT_SCORE
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.baking.sources.sentence_transformers.transformer import open_transformer
from polybake.baking.sources.sentence_transformers.transformer_settings import CrossEncoderSettings
from polybake.baking.sources.source import OpenEncoder, Source, TaskHead
from polybake.baking.sources.torch_classes import activation_of
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError


class _Settings(JsonModel, KnownKeys):
    """The settings that hold for a whole CrossEncoder, which is computed in float32 throughout."""

    passed_over: ClassVar[Collection[str]] = ("__version__", "model_type", "keep_in_fp32_modules")

    prompts: dict[str, Literal[""]] | None = None
    activation_fn: Annotated[str, AfterValidator(activation_of)] | None = None


def open_cross_encoder(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder of a CrossEncoder.

    Raises:
        InputError: Its modules are not just a Transformer with a head of its own, or with a
            LogitScore behind it; a setting is not baked, or something is missing.

    Source: sentence-transformers ``CrossEncoder``.
    """
    modules = read_modules(folder, {})
    kinds = [module.kind for module in modules]
    if kinds == ["Transformer", LOGIT_SCORE]:
        return open_logit_score(folder, modules[0], modules[1], open_encoder)
    if kinds != ["Transformer"]:
        raise InputError(
            f"{folder.path / 'modules.json'}: a CrossEncoder of {', '.join(kinds)} is not baked; "
            f"expected one Transformer, with a head of its own or {LOGIT_SCORE} behind it; export "
            "the whole model to ONNX and give the .onnx file"
        )
    body = folder.inner(modules[0].path)
    encoder, tokenizer = open_transformer(body, open_encoder, CrossEncoderSettings)
    head = of_pairs(folder, open_head(body))
    return Source(encoder=encoder, tokenizer=tokenizer, folder=body, head=head)


def of_pairs(folder: ModelFolder, head: TaskHead | None) -> TaskHead | None:
    """Return the head with what the CrossEncoder's settings say of its number.

    Raises:
        InputError: A setting is not baked.
    """
    settings = folder.read(SETTINGS, _Settings)
    if head is None:
        return None
    relevance = settings.activation_fn or head.relevance
    return replace(head, relevance=relevance, of_pairs=True, unsaid="")
