"""Weigh each token's embedding, before a pooling that divides by the sum of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from polybake.steps.arrays import Vector, check_tokens
from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class WordWeights(Step):
    """Multiply each token embedding by the weight of its id.

    A ``pool`` after it divides means by the sum of the weights instead of the tokens' number.

    Args:
        weights: The weight of each token id, ``[ids]``.

    Source: sentence-transformers ``WordWeights``.
    """

    name: ClassVar[str] = "word_weights"

    weights: Vector

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add the product to the graph.

        Raises:
            InputError: ``x`` is already pooled.
        """
        check_tokens(x, self.name)
        from onnxscript import ir

        table = op.initializer(ir.tensor(self.weights), "weights")
        weights = op.Gather(table, tokens.input_ids)
        present = op.Cast(tokens.attention_mask, to=weights.dtype)
        tokens.weights = op.Mul(weights, present)
        return op.Mul(x, op.Unsqueeze(tokens.weights, axes=[-1]))

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Multiply in NumPy."""
        weights = self.weights[tokens.input_ids] * tokens.attention_mask
        tokens.weights = weights
        return x * weights[:, :, np.newaxis]
