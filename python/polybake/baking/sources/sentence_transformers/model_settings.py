"""config_sentence_transformers.json: how texts of a model are prompted and its vectors compared."""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from polybake.baking.sources.source import Recipe
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.base.modelfile.manifest import Similarity


class ModelSettings(JsonModel, KnownKeys):
    """The settings that hold for a whole model; null stands for the library's own.

    Attributes:
        prompts: Prompt texts by name.
        similarity_fn_name: sentence-transformers' manhattan is not baked.
        truncate_dim: The elements that are kept after all modules, which leaves vectors shorter
            than 1 behind a Normalize.
        model_type: The library's class that the model is of.
        max_active_dims: The elements of a SparseEncoder's vectors that may be other than 0.
    """

    passed_over: ClassVar[Collection[str]] = ("__version__",)

    prompts: dict[str, str] | None = None
    default_prompt_name: str | None = None
    similarity_fn_name: Literal["cosine", "dot", "euclidean"] | None = None
    truncate_dim: Annotated[int, Field(gt=0)] | None = None
    model_type: str | None = None
    max_active_dims: Annotated[int, Field(gt=0)] | None = None

    @field_validator("default_prompt_name")
    @classmethod
    def _is_a_prompt(cls, name: str | None, info: ValidationInfo) -> str | None:
        prompts = info.data.get("prompts") or {}
        if name is not None and name not in prompts:
            known = ", ".join(map(repr, prompts)) or "none, as there are no prompts"
            raise ValueError(f"Input should be null or the name of a prompt: {known}")
        return name

    @property
    def recipe(self) -> Recipe:
        """The cut of vectors and the number of kept weights, as steps."""
        cut, number = self.truncate_dim, self.max_active_dims
        return (
            *(() if cut is None else ({"step": "truncate", "dimension": cut},)),
            *(() if number is None else ({"step": "keep_largest", "count": number},)),
        )

    @property
    def similarity(self) -> Similarity:
        """The similarity that vectors are compared by.

        Source: sentence-transformers ``SimilarityFunction``; a SparseEncoder's default is dot.
        """
        default: Similarity = "dot" if self.model_type == "SparseEncoder" else "cosine"
        return self.similarity_fn_name or default


def read_model_settings(folder: ModelFolder) -> ModelSettings:
    """Read the settings of a model's folder; without a file, the library's defaults.

    Source: sentence-transformers ``SentenceTransformer._parse_model_config`` and ``encode``.
    """
    return folder.read(
        "config_sentence_transformers.json",
        ModelSettings,
        remedy="correct it there, or remove it and list prompts and steps in polybake.toml",
    )
