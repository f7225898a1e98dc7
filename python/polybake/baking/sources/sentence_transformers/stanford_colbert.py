"""A folder that Stanford's ColBERT saved, read as sentence-transformers reads it."""

import string
from functools import partial
from typing import Annotated

from pydantic import Field

from polybake.baking.encoders import ENCODERS
from polybake.baking.sources.checkpoint import (
    STANFORD_COLBERT,
    architecture_name,
    checkpoint_files,
)
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.sources.sentence_transformers.token_vectors import TokenVectors
from polybake.baking.sources.sentence_transformers.transformer_settings import QueryExpansion
from polybake.baking.sources.source import OpenEncoder, Source, TaskHead
from polybake.baking.steps import Step
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.prompt_tokens import with_prefix_tokens
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

#: The file with the lengths of texts, and with the tokens that count.
METADATA = "artifact.metadata"

_Length = Annotated[int, Field(gt=0)]


class _Metadata(JsonModel):
    """The keys of the file `METADATA`."""

    query_token_id: str = "[unused0]"  # noqa: S105 - a token of the vocabulary
    doc_token_id: str = "[unused1]"  # noqa: S105
    query_maxlen: _Length = 32
    doc_maxlen: _Length | None = None
    attend_to_mask_tokens: bool = False
    mask_punctuation: bool = True


def open_stanford_colbert(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open it.

    Source: sentence-transformers ``MultiVectorEncoder._maybe_load_stanford_metadata``.
    """
    folder.needed_file(
        METADATA, "copy it from the model's repository: it says how long queries and documents are"
    )
    metadata = folder.read(METADATA, _Metadata)
    prompts = {"query": f"{metadata.query_token_id} ", "document": f"{metadata.doc_token_id} "}
    tokenizer = with_prefix_tokens(open_tokenizer(folder), prompts.values())
    return TokenVectors(
        prompts,
        ({"step": "head"}, {"step": "normalize"}),
        metadata.doc_maxlen,
        None,
        QueryExpansion(
            strategy="fixed", attend=metadata.attend_to_mask_tokens, length=metadata.query_maxlen
        ),
        [*string.punctuation] if metadata.mask_punctuation else [],
    ).source(
        folder,
        folder,
        open_encoder(folder, tokenizer),
        tokenizer,
        TaskHead(STANFORD_COLBERT, partial(_projection, folder)),
    )


def _projection(folder: ModelFolder) -> list[Step]:
    name = architecture_name(folder)
    return [Layers(checkpoint_files(folder), ENCODERS[name or ""].prefix).dense("linear")]
