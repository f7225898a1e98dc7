"""Give a text's tokens to three layers at once: dense, sparse and multi-vector."""

from functools import reduce
from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.projections import Dense
from polybake.baking.steps.state import Arrays, State, Value, Values
from polybake.baking.steps.step import Step, build_each
from polybake.baking.steps.tokens import LeaveOut, LeaveOutEnds, Unpad

#: The graph's outputs besides the dense one: a number and a vector for each token but the first.
TOKEN_WEIGHTS, TOKEN_EMBEDDINGS = "token_weights", "token_embeddings"

_TOKENS, _ROWS = LeaveOutEnds(first=1), Unpad()


class Hybrid(Step):
    """Make ``x``, and two further outputs, of the same token embeddings.

    Attributes:
        dense: Steps that make a text's one vector.
        weight: The layer that gives a token its weight, ``[1, hidden]``.
        unweighted: Ids of tokens whose weight is 0.
        vector: Steps that make a token's vector, each token by itself.

    Source: FlagEmbedding ``EncoderOnlyEmbedderM3ModelForInference``.
    """

    name: ClassVar[str] = "hybrid"
    final: ClassVar[bool] = True

    dense: tuple[Step, ...]
    weight: Dense
    unweighted: tuple[int, ...]
    vector: tuple[Step, ...]

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the three layers to the graph."""
        check_tokens(state.x, self.name)
        with_first = build_each(op, "dense", self.dense, state)
        tokens = _TOKENS.build(op, state)
        rows = _ROWS.build(op, tokens)
        weights = build_each(op, "weight", [self.weight], rows)
        counted = op.Cast(op.Reshape(tokens.attention_mask, [-1]), to=ir.DataType.BOOL)
        weighted = LeaveOut(ids=self.unweighted).build(op, tokens).attention_mask
        mask = op.Compress(op.Reshape(weighted, [-1, 1]), counted, axis=0)
        only = weights.becomes(op.Mul(weights.x, op.Cast(mask, to=weights.x.dtype)))
        only.x.shape = weights.x.shape
        vectors = build_each(op, "vector", self.vector, rows)
        return with_first.becomes(with_first.x, further=_further(only, vectors))

    def numpy(self, state: Arrays) -> Arrays:
        """Compute the three layers in NumPy."""
        tokens = _TOKENS.numpy(state)
        rows = _ROWS.numpy(tokens)
        dense, weights, vectors = (
            reduce(lambda before, step: step.numpy(before), steps, begin)
            for steps, begin in ((self.dense, state), ([self.weight], rows), (self.vector, rows))
        )
        mask = ~np.isin(state.input_ids[tokens.attention_mask == 1], self.unweighted)
        only = weights.becomes(weights.x * mask[:, np.newaxis])
        return dense.becomes(dense.x, further=_further(only, vectors))

    @property
    def pools(self) -> bool:
        """True."""
        return True

    @property
    def changes(self) -> frozenset[str]:
        """The further outputs."""
        return frozenset({"further"})

    def __str__(self) -> str:
        """The step as the manifest shows it."""
        dense, vector = (" -> ".join(map(str, steps)) for steps in (self.dense, self.vector))
        ids = "+".join(map(str, self.unweighted))
        return f"hybrid(dense: {dense}; weight: {self.weight}, without {ids}; vector: {vector})"


def _further(weights: State[Value], vectors: State[Value]) -> dict[str, State[Value]]:
    return {TOKEN_WEIGHTS: weights, TOKEN_EMBEDDINGS: vectors}
