"""A vector, weights of tokens and vectors of tokens, all of one pass."""

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.heads.bge_m3 import BGE_M3, readable
from polybake.baking.sources.source import Recipe, Source
from polybake.baking.steps.hybrid import TOKEN_EMBEDDINGS, TOKEN_WEIGHTS
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.errors import InputError

#: The most tokens of each text in a golden answer.
_TOP = 8


class Hybrid(Task):
    """Dense, sparse and multi-vector search: gives a text all that each of them needs.

    Source: FlagEmbedding ``M3Embedder``.
    """

    name: ClassVar[str] = "hybrid"
    output: ClassVar[str] = "dense_embedding"
    further_outputs: ClassVar[tuple[str, ...]] = (TOKEN_WEIGHTS, TOKEN_EMBEDDINGS)

    def fits(self, source: Source) -> bool:
        """Return whether both of its layers lie beside the encoder, and may be read."""
        head = source.head
        return head is not None and head.kind == BGE_M3 and readable(source.folder)

    def recipe(self, source: Source) -> Recipe:
        """Return the three layers."""
        if source.head is None or source.head.kind != BGE_M3:
            raise InputError(
                f"{source.folder.path}: gives no sparse and multi-vector outputs; expected a "
                "folder of sentence-transformers with sparse_linear and colbert_linear beside it, "
                "as BAAI/bge-m3 has them"
            )
        return ({"step": HEAD},)

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """Return all texts; the call asks for each text's token ids with the largest weights."""
        return {"texts": [*texts], "top": _TOP}

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return each text's heaviest token ids, and how many vectors of tokens it has."""
        return [
            {"weights": _heaviest(ids[1:], weights[:, 0]), "rows": len(vectors)}
            for ids, weights, vectors in zip(
                outputs.ids,
                outputs.further[TOKEN_WEIGHTS],
                outputs.further[TOKEN_EMBEDDINGS],
                strict=True,
            )
        ]


def _heaviest(ids: Sequence[int], weights: NDArray[Any]) -> JsonValue:
    """Rank ids by the largest weight of each, without those of weight 0.

    Source: FlagEmbedding ``M3Embedder.encode_single_device``, ``_process_token_weights``.
    """
    largest: dict[int, float] = {}
    for token, weight in zip(ids, weights.tolist(), strict=True):
        largest[token] = max(weight, largest.get(token, 0.0))
    ranked = sorted((-weight, token) for token, weight in largest.items() if weight > 0)
    return [{"index": token, "score": -weight} for weight, token in ranked[:_TOP]]
