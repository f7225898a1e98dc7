"""A layer of the transformer: attention and what feeds forward, each added to its input."""

import re
from typing import Any

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.experts import MixtureOfExperts
from polybake.baking.encoders.options import Names, Options
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, split_heads
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.prefix_cache import Past
from polybake.baking.layers.rotary import Rotation


def keys_values(layer: int) -> tuple[str, str]:
    """Return the names of a layer's keys and values, as exports of transformers have them."""
    return f"present.{layer}.key", f"present.{layer}.value"


class Part(nn.Module):
    """A part of the network, whose layers have the names that the checkpoint gives them."""

    def __init__(self, options: Options, names: Names, name: str = "") -> None:
        *self.within, own = re.split(r"\.(?=\D)", name)
        super().__init__(own)
        self.options, self.names = options, names

    def __call__(self, op: OpBuilder, *args: Any, **kwargs: Any) -> Any:
        """Add its nodes to the namespace of its name: ``encoder/layer.0``."""
        for module in self.within:
            op.builder.push_module(module)
        try:
            return super().__call__(op, *args, **kwargs)
        finally:
            for _ in self.within:
                op.builder.pop_module()

    def linear(self, part: str, inputs: int, outputs: int) -> Linear:
        """Add a linear layer."""
        biased = part in self.options.biases
        layer = self.options.linear(inputs, outputs, bias=biased, name=self.names[part])
        setattr(self, part, layer)
        return layer

    def norm(self, part: str, size: int | None = None) -> nn.Module:
        """Return a normalisation, of the hidden size unless it is another."""
        size = size or self.options.hidden_size
        return self.options.norm(size, self.options.epsilon, name=self.names[part])


class Attention(Part):
    """Queries, keys and values, the mixed values, and their output layer."""

    def __init__(self, options: Options, names: Names, layer: int) -> None:
        super().__init__(options, names)
        self.number = layer
        query, key = options.heads * options.head_size, options.key_value_heads * options.head_size
        sizes = {"qkv": query + 2 * key, "query": query, "key": key, "value": key}
        self.inputs = [
            self.linear(part, options.hidden_size, size)
            for part, size in sizes.items()
            if part in names
        ]
        self.output = self.linear("output", query, options.hidden_size)
        if options.head_norm is not None:
            each = options.head_size if options.head_norm == "each" else None
            self.query_norm = self.norm("query_norm", each or query)
            self.key_norm = self.norm("key_norm", each or key)

    def forward(
        self,
        op: OpBuilder,
        x: ir.Value,
        bias: ir.Value,
        rotated: Rotation | None = None,
        past: Past | None = None,
        seen: ir.Value | None = None,
    ) -> ir.Value:
        """Mix the values of ``seen``, or of ``x`` itself; float32 ``[batch, sequence, hidden]``."""
        options = self.options
        query, key, value = self.split(op, x, x if seen is None else seen)
        if rotated is not None:
            query, key = rotated.turn(op, query), rotated.turn(op, key)
        if options.cached:
            key.name, value.name = keys_values(self.number)
        if past is not None:
            key, value = past.before(op, self.number, key, value)
        mixed = attend(
            op,
            query,
            key,
            value,
            bias,
            heads=options.heads,
            head_size=options.head_size,
            key_value_heads=options.key_value_heads,
            scale=options.scale,
        )
        return self.output(op, mixed)

    def split(
        self, op: OpBuilder, x: ir.Value, seen: ir.Value
    ) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Give queries, keys and values, float32 ``[batch, heads, sequence, head_size]``."""
        heads, groups = self.options.heads, self.options.key_value_heads
        size, norm = self.options.head_size, self.options.head_norm
        if len(self.inputs) == 1:
            query, key, value = op.Split(self.inputs[0](op, x), num_outputs=3, axis=-1, _outputs=3)
        else:
            pairs = zip(self.inputs, (x, seen, seen), strict=True)
            query, key, value = (layer(op, y) for layer, y in pairs)
        if norm == "all":
            query, key = self.query_norm(op, query), self.key_norm(op, key)
        query = split_heads(op, query, heads, size)
        key, value = split_heads(op, key, groups, size), split_heads(op, value, groups, size)
        if norm == "each":
            query, key = self.query_norm(op, query), self.key_norm(op, key)
        return query, key, value


class FeedForward(Part):
    """Widen, activate, perhaps gate, and narrow each token's vector."""

    def __init__(self, options: Options, names: Names) -> None:
        super().__init__(options, names)
        hidden, wide = options.hidden_size, options.intermediate_size
        gated = [part for part in ("gate_up", "up_gate", "gate", "up") if part in names]
        parts = gated if options.gated else ["widen"]
        self.wider = [
            self.linear(part, hidden, 2 * wide if "_" in part else wide) for part in parts
        ]
        self.down = self.linear("down", wide, hidden)
        self.gate_last = parts[0] == "up_gate"
        self.activate = ACTIVATIONS[options.activation].build

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., hidden]``."""
        wide = [layer(op, x) for layer in self.wider]
        if not self.options.gated:
            return self.down(op, self.activate(op, wide[0]))
        if len(wide) == 1:
            wide = [*op.Split(wide[0], num_outputs=2, axis=-1, _outputs=2)]
        gate, up = reversed(wide) if self.gate_last else wide
        return self.down(op, op.Mul(self.activate(op, gate), up))


class Block(nn.Module):
    """A part of a layer, whose output is added to its input, with its norms."""

    def __init__(
        self,
        part: nn.Module,
        before: nn.Module | None = None,
        inner: nn.Module | None = None,
        after: nn.Module | None = None,
    ) -> None:
        super().__init__("")
        self.part, self.before, self.inner, self.after = part, before, inner, after

    def forward(self, op: OpBuilder, x: ir.Value, *inputs: Any) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``; the part gets all inputs."""
        y = self.part(op, x if self.before is None else self.before(op, x), *inputs)
        y = op.Add(x, y if self.inner is None else self.inner(op, y))
        return y if self.after is None else self.after(op, y)


class Layer(Part):
    """A block of attention, and one that feeds forward."""

    def __init__(self, options: Options, names: Names, number: int, attention: nn.Module) -> None:
        super().__init__(options, names, names["layer"].format(*divmod(number, options.group_size)))
        if not options.first_norm and number == 0:
            self.attention = Block(attention)
        else:
            self.attention = self.block(attention, "attention")
        if options.second_norm:
            self.attention = Block(self.attention, after=self.norm("second_norm"))
        part: nn.Module = FeedForward(options, names)
        if options.experts is not None and number % options.experts.every == 1:
            part = MixtureOfExperts(options, options.experts, names["experts"])
        self.feed_forward = self.block(part, "feed_forward")

    def block(self, part: nn.Module, kind: str) -> Block:
        """Return a part with the norms that the options ask for."""
        norms = self.options.norms
        before = None if norms == "after" else self.norm(f"before_{kind}")
        if norms == "both":
            return Block(part, before, inner=self.norm(f"after_{kind}"))
        return Block(part, before, after=None if before else self.norm(f"after_{kind}"))

    def forward(self, op: OpBuilder, x: ir.Value, *inputs: Any) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``; attention gets all inputs."""
        return self.feed_forward(op, self.attention(op, x, *inputs))
