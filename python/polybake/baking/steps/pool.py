"""Make one embedding of a text's token embeddings."""

from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar

import numpy as np
from onnxscript import OpBuilder
from pydantic import Field, field_validator

from polybake.baking.pooling import POOLING_MODES, PoolingMode
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step
from polybake.errors import InputError

#: Checked by the step itself, which names the choices.
_Mode = Annotated[str, Field(json_schema_extra={"enum": list(POOLING_MODES)})]


class Pool(Step):
    """Pool ``[batch, sequence, hidden]`` to ``[batch, modes * hidden]``.

    Attributes:
        mode: ``mean``, ``cls``, ``max``, ``lasttoken``, ``weightedmean`` or
            ``mean_sqrt_len_tokens``, or several, whose results are concatenated in that order.
        include_prompt: Whether the tokens of a prompt, and the special one before them, are
            pooled too.

    Source: sentence-transformers ``Pooling``.
    """

    name: ClassVar[str] = "pool"

    mode: _Mode | tuple[_Mode, ...]
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

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the pooling to the graph."""
        x = state.x
        if x.shape is None or len(x.shape) != 3:
            raise InputError(
                f"pool needs token embeddings [batch, sequence, hidden], and {x.name!r} is "
                f"{x.shape}, one vector a text already; drop the pool step"
            )
        present = op.Cast(state.attention_mask, to=x.dtype)
        mask = present
        if not self.include_prompt:
            position = op.CumSum(present, 1)
            after_prompt = op.Greater(position, op.Cast(state.prompt_length, to=x.dtype))
            mask = op.Mul(present, op.Cast(after_prompt, to=x.dtype))
        pooled = [mode.nodes(op, x, present, mask) for mode in self._modes]
        return state.becomes(op.Concat(*pooled, axis=-1) if len(pooled) > 1 else pooled[0])

    def numpy(self, state: Arrays) -> Arrays:
        """Pool in NumPy."""
        x = state.x
        mask = present = state.attention_mask.astype(x.dtype)
        if not self.include_prompt:
            mask = present * (np.cumsum(present, axis=1) > state.prompt_length)
        pooled = [mode.formula(x, present, mask) for mode in self._modes]
        return state.becomes(np.concatenate(pooled, axis=-1))

    @property
    def pools(self) -> bool:
        """True."""
        return True

    def prompt_values(
        self, prompts: Mapping[str, str], token_ids: Callable[[str], list[int]]
    ) -> dict[str, dict[str, int]]:
        """Return how many tokens of each prompt are left out: as many as the prompt alone has.

        A byte-level tokenizer may join the prompt's last space to the text's first word. The
        prompt alone then has one token more than it takes before a text, and that many are left
        out.

        Source: sentence-transformers ``Transformer._get_prompt_length``.
        """
        if self.include_prompt:
            return {}
        counts = {name: len(token_ids(text)) if text else 0 for name, text in prompts.items()}
        return {"prompt_length": {"": 0, **counts}}

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
