"""Make one embedding of a text's token embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import field_validator

from polybake.errors import InputError
from polybake.steps.pooling_modes import POOLING_MODES, PoolingMode
from polybake.steps.step import Floats, Mask, Step

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Pool(Step):
    """Pool ``[batch, sequence, hidden]`` to ``[batch, hidden]`` a mode, side by side.

    Attributes:
        mode: A name of `POOLING_MODES`, or several, whose results are concatenated in that order.
        include_prompt: Whether the tokens of a prompt, and the special one before them, are
            pooled too.

    Source: sentence-transformers ``Pooling``.
    """

    name: ClassVar[str] = "pool"

    mode: str | tuple[str, ...]
    include_prompt: bool = True

    @field_validator("mode", mode="before")
    @classmethod
    def _are_known(cls, mode: object) -> object:
        names = list(mode) if isinstance(mode, list | tuple) else [mode]
        choices = ", ".join(map(repr, POOLING_MODES))
        if not names:
            raise ValueError(f"no mode is given; choose from: {choices}")
        for name in names:
            if name not in list(POOLING_MODES):
                raise ValueError(f"unknown mode {name!r}; choose from: {choices}")
        return mode

    def build(
        self,
        op: OpBuilder,
        x: ir.Value,
        attention_mask: ir.Value,
        prompt_length: ir.Value | None = None,
    ) -> ir.Value:
        """Add the pooling to the graph.

        Args:
            op: The builder of the graph.
            x: The token embeddings.
            attention_mask: 1 at a token.
            prompt_length: int64 ``[1]``, how many of a text's first tokens are left out.

        Raises:
            InputError: ``x`` is already pooled.
        """
        if x.shape is None or len(x.shape) != 3:
            raise InputError(
                f"pool needs token embeddings [batch, sequence, hidden], and {x.name!r} is "
                f"{x.shape}, one vector a text already; drop the pool step"
            )
        tokens = op.Cast(attention_mask, to=x.dtype)
        kept = tokens
        if prompt_length is not None:
            place = op.CumSum(tokens, 1)
            after_prompt = op.Greater(place, op.Cast(prompt_length, to=x.dtype))
            kept = op.Mul(tokens, op.Cast(after_prompt, to=x.dtype))
        pooled = [mode.build(op, x, tokens, kept) for mode in self._modes]
        return op.Concat(*pooled, axis=-1) if len(pooled) > 1 else pooled[0]

    def numpy(self, x: Floats, attention_mask: Mask, prompt_length: int = 0) -> Floats:
        """Pool in NumPy, without the first ``prompt_length`` tokens of each text."""
        tokens = attention_mask.astype(x.dtype)
        kept = tokens * (np.cumsum(tokens, axis=1) > prompt_length)
        pooled = [mode.numpy(x, tokens, kept) for mode in self._modes]
        return np.concatenate(pooled, axis=-1)

    def __str__(self) -> str:
        """The step as the manifest shows it, such as ``pool(mode=cls+mean)``."""
        prompt = "" if self.include_prompt else ", include_prompt=False"
        return f"pool(mode={'+'.join(self._names)}{prompt})"

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.mode,) if isinstance(self.mode, str) else self.mode

    @property
    def _modes(self) -> list[PoolingMode]:
        return [POOLING_MODES[name] for name in self._names]
