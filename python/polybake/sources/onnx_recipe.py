"""Which steps of a sentence-transformers folder an ONNX export of its model leaves to do."""

from __future__ import annotations

from pathlib import Path

from polybake.errors import InputError
from polybake.sources.onnx_signature import EmbeddingOutputs
from polybake.sources.source import Recipe


def remaining_steps(recipe: Recipe, outputs: EmbeddingOutputs, path: Path) -> Recipe:
    """The folder's steps, without those that the chosen output went through already.

    Raises:
        InputError: it is not known which these are.

    Source: Optimum ``SentenceTransformersTransformerOnnxConfig``: ``sentence_embedding`` comes
    after all modules, but not after ``encode``'s ``truncate_dim``, and ``token_embeddings`` after
    those that change tokens; txtai ``HFOnnx``: ``embeddings`` are pooled and no more.
    """
    pool = next((index for index, step in enumerate(recipe) if step["step"] == "pool"), None)
    if outputs.first == "token_embeddings" and pool != 0 and recipe:
        raise _unknown(outputs.first, recipe, path)
    if outputs.first != outputs.pooled:
        return recipe
    if outputs.pooled == "sentence_embedding":
        return tuple(step for step in recipe if step["step"] == "truncate")
    if outputs.pooled == "embeddings" and pool == 0:
        return recipe[1:]
    raise _unknown(outputs.first, recipe, path)


def _unknown(output: str, recipe: Recipe, path: Path) -> InputError:
    steps = ", ".join(str(step["step"]) for step in recipe) or "none"
    return InputError(
        f"{path}: which of the folder's steps ({steps}) output {output!r} went through is not "
        "known; export last_hidden_state"
    )
