"""Weigh each token's embedding, before a pooling that divides by the sum of the weights."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.steps.arrays import Vector, check_tokens
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step


class WordWeights(Step):
    """Multiply each token embedding by the weight of its id.

    A ``pool`` after it divides means by the sum of the weights instead of the tokens' number.

    Args:
        weights: The weight of each token id, ``[ids]``.

    Source: sentence-transformers ``WordWeights``.
    """

    name: ClassVar[str] = "word_weights"

    weights: Vector

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the product to the graph.

        Raises:
            InputError: the embeddings are already pooled.
        """
        check_tokens(state.x, self.name)
        table = op.initializer(ir.tensor(self.weights), "weights")
        weights = op.Gather(table, state.input_ids)
        weights = op.Mul(weights, op.Cast(state.attention_mask, to=weights.dtype))
        return state.becomes(op.Mul(state.x, op.Unsqueeze(weights, axes=[-1])), weights=weights)

    @property
    def changes(self) -> frozenset[str]:
        """What it tells the steps behind it."""
        return frozenset({"weights"})

    def numpy(self, state: Arrays) -> Arrays:
        """Multiply in NumPy."""
        weights = self.weights[state.input_ids] * state.attention_mask
        return state.becomes(state.x * weights[:, :, np.newaxis], weights=weights)
