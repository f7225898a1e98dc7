"""Run an LSTM over token embeddings before they are pooled."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder
from pydantic import Field

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.lstm import LstmLayers
from polybake.baking.steps.arrays import check_tokens, give_arrays
from polybake.baking.steps.state import Arrays, Floats, Values
from polybake.baking.steps.step import Step

_sigmoid = ACTIVATIONS["sigmoid"].numpy


class Lstm(Step):
    """Give each token the state of an LSTM there, and zeros to padding, which it never sees.

    Padding stands behind a text, as sentence-transformers puts it.

    Attributes:
        hidden: Elements of a state; with both directions a token gets two, side by side.
        layers: How many run over each other's states.
        bidirectional: Whether each layer also runs from a text's end to its beginning.
        weights: float32 under PyTorch's names, ``weight_ih_l0`` ``[4 * hidden, in]`` and so on.

    Source: sentence-transformers ``LSTM``; its dropout belongs to training.
    """

    name: ClassVar[str] = "lstm"

    hidden: int = Field(gt=0, strict=True)
    layers: int = Field(gt=0, le=256, strict=True)
    bidirectional: bool
    weights: dict[str, NDArray[np.float32]]

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the layers to the graph.

        Raises:
            InputError: the embeddings are pooled, or the weights do not fit them.
        """
        inputs = check_tokens(state.x, self.name)
        layers = LstmLayers(inputs, self.hidden, self.layers, bidirectional=self.bidirectional)
        give_arrays(layers, self.weights, self.name)
        lengths = op.ReduceSum(state.attention_mask, axes=[1], keepdims=0)
        return state.becomes(layers(op, state.x, lengths))

    def numpy(self, state: Arrays) -> Arrays:
        """Run each text alone in NumPy."""
        directions = 2 if self.bidirectional else 1
        x, mask = state.x, state.attention_mask.astype(bool)
        states = np.zeros((*mask.shape, directions * self.hidden), x.dtype)
        for row, kept in enumerate(mask):
            states[row, kept] = self.of_text(x[row, kept])
        return state.becomes(states)

    def of_text(self, x: Floats) -> Floats:
        """Map one text ``[tokens, inputs]`` to the last layer's states."""
        for layer in range(self.layers):
            states = [self._cells(x, f"l{layer}")]
            if self.bidirectional:
                states.append(self._cells(x[::-1], f"l{layer}_reverse")[::-1])
            x = np.concatenate(states, axis=-1)
        return x

    def _cells(self, x: Floats, place: str) -> Floats:
        """Run a layer in one direction: ``[tokens, inputs]`` to ``[tokens, hidden]``."""
        w_ih, w_hh = self.weights[f"weight_ih_{place}"], self.weights[f"weight_hh_{place}"]
        bias = self.weights[f"bias_ih_{place}"] + self.weights[f"bias_hh_{place}"]
        state = memory = np.zeros(self.hidden, x.dtype)
        states = np.zeros((len(x), self.hidden), x.dtype)
        for token, embedding in enumerate(x):
            gates = w_ih @ embedding + w_hh @ state + bias
            i, f, g, o = np.split(gates, 4)
            memory = _sigmoid(f) * memory + _sigmoid(i) * np.tanh(g)
            state = states[token] = _sigmoid(o) * np.tanh(memory)
        return states

    def __str__(self) -> str:
        """The step as the manifest shows it: sizes, and no weights."""
        both = f"bidirectional={self.bidirectional}"
        return f"{self.name}(hidden={self.hidden}, layers={self.layers}, {both})"
