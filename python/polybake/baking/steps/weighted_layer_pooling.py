"""Average the outputs of an encoder's layers."""

from typing import Annotated, ClassVar, Self

import numpy as np
from onnxscript import OpBuilder
from pydantic import Field, model_validator

from polybake.baking.steps.arrays import Vector
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step
from polybake.errors import InputError


class WeightedLayerPooling(Step):
    """Take the weighted mean of hidden states for the token embeddings.

    Source: sentence-transformers ``WeightedLayerPooling``.
    """

    name: ClassVar[str] = "weighted_layer_pooling"

    weights: Vector
    layer_start: Annotated[int, Field(ge=0)] = 4

    @model_validator(mode="after")
    def _has_a_sum(self) -> Self:
        if not self.weights.sum():
            raise ValueError("the weights have the sum 0, by which they are divided")
        return self

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the weighted mean to the graph."""
        states = state.hidden_states
        if not states:
            raise InputError(
                "weighted_layer_pooling needs the hidden states of the encoder, which only bert, "
                "camembert, distilbert, electra, mpnet, roberta and xlm-roberta give, and only "
                'with encoder = "native"; use such a model folder'
            )
        if state.x is not states[-1]:
            raise InputError(
                "weighted_layer_pooling begins with the encoder's hidden states, so that what "
                "stands before it is lost; put it first"
            )
        if len(states) - self.layer_start != len(self.weights):
            raise InputError(
                f"weighted_layer_pooling has {len(self.weights)} weights, and the encoder has "
                f"{len(states)} hidden states, {len(states) - self.layer_start} of them from "
                f"layer_start {self.layer_start}; give one weight for each"
            )
        total = op.Mul(states[self.layer_start], self._shares[0])
        for layer, share in zip(states[self.layer_start + 1 :], self._shares[1:], strict=True):
            total = op.Add(total, op.Mul(layer, share))
        return state.becomes(total)

    def numpy(self, state: Arrays) -> Arrays:
        """Compute ``sum(weight * state) / sum(weights)``."""
        states = state.hidden_states[self.layer_start :]
        total = np.sum([w * layer for w, layer in zip(self.weights, states, strict=True)], axis=0)
        return state.becomes(total / self.weights.sum())

    @property
    def _shares(self) -> list[float]:
        shares: list[float] = (self.weights / self.weights.sum()).tolist()
        return shares
