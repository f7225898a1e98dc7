"""Convolve token embeddings before they are pooled."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder
from pydantic import Field, field_validator

from polybake.baking.layers.convolution import Convolutions
from polybake.baking.steps.arrays import check_tokens, give_arrays
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step


class Cnn(Step):
    """Put convolutions of several kernel sizes side by side; each token keeps its place.

    Outside a text stand zeros, also where its batch is padded.

    Attributes:
        channels: Elements that each kernel size gives a token.
        kernel_sizes: Odd numbers of tokens.
        weights: float32, ``convs.N.weight`` ``[channels, hidden, kernel]`` and ``convs.N.bias``
            ``[channels]`` for each N from 0.

    Source: sentence-transformers ``CNN`` over a text alone; in a batch it lets the embeddings of
    padding into the windows, and so gives a text other vectors.
    """

    name: ClassVar[str] = "cnn"

    channels: int = Field(gt=0, strict=True)
    kernel_sizes: tuple[int, ...] = Field(min_length=1)
    weights: dict[str, NDArray[np.float32]]

    @field_validator("kernel_sizes")
    @classmethod
    def _are_odd(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        for size in sizes:
            if size < 1 or size % 2 == 0:
                raise ValueError(
                    f"kernel size {size}, expected an odd number above 0; use a model whose "
                    "sizes are odd"
                )
        return sizes

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the convolutions to the graph.

        Raises:
            InputError: the embeddings are pooled, or the weights do not fit them.
        """
        x = state.x
        hidden = check_tokens(x, self.name)
        convolutions = Convolutions(hidden, self.channels, self.kernel_sizes)
        give_arrays(convolutions, self.weights, self.name)
        present = op.Unsqueeze(op.Cast(state.attention_mask, to=x.dtype), axes=[-1])
        return state.becomes(convolutions(op, op.Mul(x, present)))

    def numpy(self, state: Arrays) -> Arrays:
        """Sum over each token's window in NumPy."""
        x = state.x * state.attention_mask[..., None]
        channels = []
        for number, size in enumerate(self.kernel_sizes):
            weight, bias = (self.weights[f"convs.{number}.{part}"] for part in ("weight", "bias"))
            padded = np.pad(x, [(0, 0), (size // 2, size // 2), (0, 0)])
            windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis=1)
            channels.append(np.einsum("bshk,chk->bsc", windows, weight) + bias)
        return state.becomes(np.concatenate(channels, axis=-1))

    def __str__(self) -> str:
        """The step as the manifest shows it, such as ``cnn(channels=256, kernel_sizes=1+3+5)``."""
        sizes = "+".join(map(str, self.kernel_sizes))
        return f"{self.name}(channels={self.channels}, kernel_sizes={sizes})"
