"""The transformer that all architectures are: options say what it computes.

Source: transformers' models of each architecture, in evaluation and without their heads.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.layer import Attention, Layer, Part
from polybake.baking.encoders.options import Names, Options
from polybake.baking.layers.attention import window_bias
from polybake.baking.layers.embedding import Embedding, PositionEmbedding
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.positions import RelativeBias, alibi_bias, positions_after_padding
from polybake.baking.layers.prefix_cache import Past
from polybake.baking.layers.rotary import Rotation, rotation


class Transformer(Part):
    """An encoder: token ids to token embeddings.

    Attributes:
        hidden_states: The input of the first layer, then the output of each layer, once ``forward``
            has run; empty if they are not known to be transformers' ``hidden_states``.
    """

    #: Whether ``forward`` gives one embedding a text, float32 ``[batch, size]``.
    pooled: ClassVar[bool] = False
    attention: ClassVar[Callable[..., nn.Module]] = Attention
    layer: ClassVar[type[Layer]] = Layer

    def __init__(self, options: Options, names: Names) -> None:
        super().__init__(options, names)
        self.hidden_states: list[ir.Value] = []
        hidden, size = options.hidden_size, options.embedding_size or options.hidden_size
        rows, offset = options.positions, options.position_offset
        self.tokens = Embedding(options.vocab_size, size, names["tokens"])
        self.positions: Embedding | None = None
        if rows and options.padding_id is None:
            self.positions = PositionEmbedding(rows, size, names["positions"], offset)
        elif rows:
            self.positions = Embedding(rows, size, names["positions"])
        self.token_types: Embedding | None = None
        if options.token_types:
            self.token_types = Embedding(options.token_types, size, names["token_types"])
        after = options.norms == "after"
        normed = after or not options.first_norm
        self.embedding_norm = self.norm("embedding_norm", size) if normed else None
        self.embedding_projection: Linear | None = None
        if options.embedding_size is not None:
            self.embedding_projection = Linear(size, hidden, name=names["embedding_projection"])
        self.layers: list[Layer] = []
        for number in range(max(options.order) + 1):
            attention = self.attention(options, names, number)
            self.layers.append(self.layer(options, names, number, attention))
            setattr(self, f"layer {number}", self.layers[-1])
        self.final_norm = None if after else self.norm("final_norm")
        self.projection: Linear | None = None
        if options.projection is not None:
            self.projection = self.linear("projection", hidden, options.projection)
        self.relative_bias: RelativeBias | None = None
        if isinstance(options.distance_bias, tuple):
            name = names["relative_bias"]
            self.relative_bias = RelativeBias(options.heads, *options.distance_bias, name)

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value | None = None,
        past: Past | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, size]``.

        Behind ``past``, which a causal decoder alone may have, ``input_ids`` are those of the rest,
        ``[batch, rest]``, and so are the embeddings, ``[batch, rest, size]``.
        """
        inputs = self.attention_inputs(op, attention_mask, past)
        return self.finish(op, self.run(op, self.embed(op, input_ids, token_type_ids), inputs))

    def embed(
        self, op: OpBuilder, input_ids: ir.Value, token_type_ids: ir.Value | None = None
    ) -> ir.Value:
        """Give what the first layer takes: float32 ``[batch, sequence, hidden]``.

        Without types every token is of type 0.
        """
        options, x = self.options, self.tokens(op, input_ids)
        if options.embedding_scale != 1.0:
            x = op.Mul(x, options.embedding_scale)
        others = []
        if self.positions is not None:
            counted = input_ids
            if options.padding_id is not None:
                counted = positions_after_padding(op, input_ids, options.padding_id)
            others.append(self.positions(op, counted))
        if self.token_types is not None:
            types = op.Constant(value_int=0) if token_type_ids is None else token_type_ids
            others.append(self.token_types(op, types))
        if others:
            x = op.Add(x, others[0] if len(others) == 1 else op.Add(*others))
        x = x if self.embedding_norm is None else self.embedding_norm(op, x)
        return x if self.embedding_projection is None else self.embedding_projection(op, x)

    def run(self, op: OpBuilder, x: ir.Value, inputs: Sequence[tuple[Any, ...]]) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``, with the inputs of each layer."""
        states = [x]
        for number, own in zip(self.options.order, inputs, strict=True):
            x = self.layers[number](op, x, *own)
            states.append(x)
        self.hidden_states = states if self.options.transformers_states else []
        return x

    def attention_inputs(
        self, op: OpBuilder, attention_mask: ir.Value, past: Past | None
    ) -> list[tuple[Any, ...]]:
        """Give what the attention of each layer takes beside its tokens."""
        options, windows = self.options, self.options.attention_windows()
        biases = {
            window: window_bias(op, attention_mask, window) for window in dict.fromkeys(windows)
        }
        turns = {
            each: rotation(op, attention_mask, each) for each in dict.fromkeys(options.frequencies)
        }
        near: ir.Value | None = None
        if self.relative_bias is not None:
            near = self.relative_bias(op, attention_mask)
        elif options.distance_bias == "alibi":
            near = alibi_bias(op, attention_mask, options.heads)
        if near is not None:
            biases = {window: op.Add(bias, near) for window, bias in biases.items()}
        if past is not None:
            biases = {window: past.rest(op, bias, 2) for window, bias in biases.items()}
            turns = {
                each: Rotation(past.rest(op, turn.cos, 0), past.rest(op, turn.sin, 0))
                for each, turn in turns.items()
            }
        frequencies = options.frequencies or ((),) * len(windows)
        pairs = zip(windows, frequencies, strict=True)
        return [(biases[window], turns.get(each), past) for window, each in pairs]

    def finish(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Apply the final norm and the output projection, if the model has them."""
        x = x if self.final_norm is None else self.final_norm(op, x)
        return x if self.projection is None else self.projection(op, x)
