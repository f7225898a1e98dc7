"""Make probabilities of answers, from a number for each beginning and each end."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.state import Arrays, Floats, Values
from polybake.baking.steps.step import Step
from polybake.errors import InputError

#: The number of an impossible beginning or end before softmax; its exponential is 0.
_NEVER = -10_000.0


class Spans(Step):
    """Turn ``[batch, sequence, 2]`` into ``[batch, sequence, most]``, the legal spans.

    Column ``n`` of a token is the probability that the answer begins with it and is ``n + 1``
    tokens long; column 0 of the first token, that there is none. For later steps only the first
    token and the tokens of the text in which answers are sought count.

    Attributes:
        most: Tokens of the longest answer.

    Source: transformers ``QuestionAnsweringPipeline``, ``select_starts_ends``.
    """

    name: ClassVar[str] = "spans"

    most: int = Field(default=15, gt=0, le=512, strict=True)

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the spans to the graph."""
        size = check_tokens(state.x, self.name)
        if size != 2:
            raise InputError(
                f"{self.name}: reads the scores of a beginning and of an end, 2 elements a token, "
                f'and the token embeddings have {size}; put it after step = "head" of a model '
                "saved as …ForQuestionAnswering"
            )
        if state.sought is None:
            raise InputError(
                f"{self.name}: rows are single texts; expected questions and texts; "
                'say task = "answer"'
            )
        first = op.Cast(op.Equal(op.CumSum(state.attention_mask, 1), 1), to=ir.DataType.INT64)
        first = op.Mul(first, state.attention_mask)
        legal = op.Add(first, op.Mul(state.sought, op.Sub(1, first)))
        allowed = op.Unsqueeze(op.Cast(legal, to=ir.DataType.BOOL), axes=[-1])
        masked = op.Transpose(op.Where(allowed, state.x, _NEVER), perm=[2, 0, 1])
        probabilities = op.Softmax(masked, axis=-1)
        begins, ends = (op.Gather(probabilities, which, axis=0) for which in (0, 1))
        # The end of a span of n + 1 tokens stands n tokens behind its beginning.
        padded = op.Pad(ends, [0, 0, 0, self.most - 1])
        length = op.Gather(op.Shape(state.input_ids), 1, axis=0)
        places = op.Unsqueeze(op.Range(0, length, 1), axes=[-1])
        behind = op.Gather(padded, op.Add(places, [*range(self.most)]), axis=1)
        none = op.Cast(op.Unsqueeze(first, axes=[-1]), to=ir.DataType.BOOL)
        longer = [index > 0 for index in range(self.most)]
        spans: ir.Value = op.Where(
            op.And(none, longer), 0.0, op.Mul(op.Unsqueeze(begins, axes=[-1]), behind)
        )
        spans.shape = ir.Shape([*(state.x.shape or ())[:2], self.most])
        return state.becomes(spans, attention_mask=legal)

    @property
    def changes(self) -> frozenset[str]:
        """What it tells the steps behind it."""
        return frozenset({"attention_mask"})

    def numpy(self, state: Arrays) -> Arrays:
        """Choose the spans in NumPy arrays; return the next state."""
        mask, sought = state.attention_mask, state.sought
        first = (mask.cumsum(axis=1) == 1) & (mask == 1)
        legal = first | (sought == 1)
        begins, ends = np.moveaxis(
            _probabilities(np.where(legal[..., None], state.x, _NEVER)), 2, 0
        )
        spans = np.zeros((*mask.shape, self.most))
        for longer in range(min(self.most, mask.shape[1])):
            until = mask.shape[1] - longer
            spans[:, :until, longer] = begins[:, :until] * ends[:, longer:]
        spans[..., 1:][first] = 0
        return state.becomes(spans, attention_mask=legal.astype(np.int64))


def _probabilities(x: Floats) -> Floats:
    """Return the softmax over the tokens of each text."""
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
