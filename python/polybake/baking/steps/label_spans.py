"""Score each span of words for each label that stands before the words."""

from functools import reduce
from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.activation import Activation
from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.dense import Dense
from polybake.baking.steps.inner_steps import build_each
from polybake.baking.steps.lstm import Lstm
from polybake.baking.steps.state import Arrays, Floats, Values
from polybake.baking.steps.step import Step
from polybake.baking.steps.unpad import Unpad
from polybake.errors import InputError

_ROWS = Unpad()
_RELU, _SIGMOID = Activation(function="relu"), Activation(function="sigmoid")


class LabelSpans(Step):
    """Turn ``[batch, sequence, hidden]`` into ``[rows, width]``, a row for each word and label.

    Element ``n`` of a row is the probability that the span of ``n + 1`` words that begins with the
    word has the label; 0 where the text has fewer words. The rows of a text's first word come
    first, in the order of the labels.

    Attributes:
        label: The id of the token before each label, whose embedding stands for the label.
        width: Words of the longest span.
        context: Layers over the words' embeddings, each of which is its first token's; or none.
        start, end: Layers of a span's first and last word.
        span: The layers of both, side by side.
        of_label: Layers of a label.

    Source: gliner ``UniEncoderSpanModel`` with ``SpanMarkerV0``.
    """

    name: ClassVar[str] = "label_spans"
    final: ClassVar[bool] = True

    label: int = Field(ge=0, strict=True)
    width: int = Field(gt=0, le=512, strict=True)
    context: Lstm | None
    start: tuple[Dense, Dense]
    end: tuple[Dense, Dense]
    span: tuple[Dense, Dense]
    of_label: tuple[Dense, Dense]

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the layers to the graph.

        Raises:
            InputError: the embeddings are pooled, or rows are not of labels and words.
        """
        check_tokens(state.x, self.name)
        if state.sought is None:
            raise InputError(
                f"{self.name}: rows are single texts; expected labels and words; "
                "leave [[steps]] and task out, as the model's head brings both"
            )
        named = op.Cast(op.Equal(state.input_ids, self.label), to=ir.DataType.INT64)
        labels = _chosen(op, state, op.Mul(named, state.attention_mask))
        words = _chosen(op, state, op.Mul(state.sought, state.attention_mask))
        if self.context is not None:
            words = build_each(op, "context", [self.context], words)
        x = op.Reshape(self._spans(op, words), [0, -1, self.span[1].weight.shape[0]])
        names = build_each(op, "of_label", self.of_label, labels).x
        numbers = op.MatMul(x, op.Transpose(names, perm=[0, 2, 1]))
        many = op.Concat(op.Shape(words.attention_mask), [self.width, -1], axis=0)
        logits = op.Transpose(op.Reshape(numbers, many), perm=[0, 1, 3, 2])
        # ONNX Runtime's Sigmoid rounds small probabilities to multiples of 3e-8.
        scores = op.Reciprocal(op.Add(op.Exp(op.Neg(logits)), 1.0))
        inside = op.Unsqueeze(self._and_behind(op, words.attention_mask, 2), axes=[2])
        scores = op.Mul(scores, op.Cast(inside, to=scores.dtype))
        counted = op.Mul(
            op.Unsqueeze(words.attention_mask, axes=[2]),
            op.Unsqueeze(labels.attention_mask, axes=[1]),
        )
        x = op.Reshape(scores, [0, -1, self.width])
        x.shape = ir.Shape(["batch", None, self.width])
        return _ROWS.build(op, state.becomes(x, attention_mask=op.Reshape(counted, [0, -1])))

    def _spans(self, op: OpBuilder, words: Values) -> ir.Value:
        """Map words ``[batch, words, hidden]`` to spans ``[batch, words, width, hidden]``."""
        first, last = self.span
        size = self.start[1].weight.shape[0]
        # The first layer of both ends side by side is a layer of each, added.
        of_start = Dense(weight=first.weight[:, :size], bias=first.bias, activation="identity")
        of_end = Dense(weight=first.weight[:, size:], activation="identity")
        start = build_each(op, "start", (*self.start, _RELU, of_start), words).x
        end = build_each(op, "end", (*self.end, _RELU, of_end), words).x
        both = op.Add(op.Unsqueeze(start, axes=[2]), self._and_behind(op, end, 3))
        both.shape = ir.Shape(["batch", None, self.width, len(first.weight)])
        act = Activation(function=first.activation)
        return build_each(op, "span", (act, last), words.becomes(both)).x

    def _and_behind(self, op: OpBuilder, x: ir.Value, axes: int) -> ir.Value:
        """Give each word's place what it has and what those behind it have, zeros at the end.

        ``[batch, words, …]`` of so many axes becomes ``[batch, words, width, …]``.
        """
        more = [0] * (axes - 2)
        padded = op.Pad(x, [0, 0, *more, 0, self.width - 1, *more])
        words = op.Gather(op.Shape(x), 1, axis=0)
        places = op.Unsqueeze(op.Range(0, words, 1), axes=[-1])
        return op.Gather(padded, op.Add(places, [*range(self.width)]), axis=1)

    def numpy(self, state: Arrays) -> Arrays:
        """Compute the same of each text alone in NumPy."""
        sought = np.zeros_like(state.attention_mask) if state.sought is None else state.sought
        found, counts = [], []
        for row, mask in enumerate(state.attention_mask == 1):
            labels = state.x[row, mask & (state.input_ids[row] == self.label)]
            words = state.x[row, mask & (sought[row] == 1)]
            found.append(self._of_text(words, labels))
            counts.append(len(words) * len(labels))
        return state.becomes(np.concatenate(found), counts=np.array(counts, np.int64))

    def _of_text(self, words: Floats, labels: Floats) -> Floats:
        """Score the words of one text ``[words, hidden]`` for its labels ``[labels, hidden]``."""
        if self.context is not None:
            words = self.context.of_text(words)
        start, end, names = (
            reduce(lambda y, layer: layer.formula(y), layers, x)
            for layers, x in ((self.start, words), (self.end, words), (self.of_label, labels))
        )
        scores = np.zeros((len(words), len(labels), self.width), words.dtype)
        for place in range(min(self.width, len(words))):
            both = np.concatenate([start[: len(words) - place], end[place:]], axis=-1)
            spans = reduce(lambda y, layer: layer.formula(y), self.span, _RELU.formula(both))
            scores[: len(words) - place, :, place] = _SIGMOID.formula(spans @ names.T)
        return scores.reshape(-1, self.width)

    @property
    def pools(self) -> bool:
        """True."""
        return True

    @property
    def changes(self) -> frozenset[str]:
        """How many rows are each text's, and what it tells the choice of rows."""
        return frozenset({"counts", "attention_mask"})

    def __str__(self) -> str:
        """The step as the manifest shows it: sizes, and no weights."""
        context = "" if self.context is None else f", context={self.context}"
        return f"{self.name}(label={self.label}, width={self.width}{context})"


def _chosen(op: OpBuilder, state: Values, mask: ir.Value) -> Values:
    """Move the marked tokens to the front; at least one place is left, of zeros if none is marked.

    Args:
        op: The builder.
        state: Of tokens, ``[batch, sequence]``.
        mask: int64 ``[batch, sequence]``, 1 at each token that is chosen.
    """
    counts = op.ReduceSum(mask, axes=[1])
    places = op.Range(0, op.Max(op.ReduceMax(counts, keepdims=0), 1), 1)
    nth = op.Sub(op.Mul(op.CumSum(mask, 1), mask), 1)
    chosen = op.Equal(op.Unsqueeze(places, axes=[-1]), op.Unsqueeze(nth, axes=[1]))
    x = op.MatMul(op.Cast(chosen, to=state.x.dtype), state.x)
    x.shape = ir.Shape(["batch", None, check_tokens(state.x, LabelSpans.name)])
    kept = op.Cast(op.Less(places, counts), to=ir.DataType.INT64)
    kept.shape = ir.Shape(["batch", None])
    return state.becomes(x, attention_mask=kept)
