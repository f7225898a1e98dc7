"""Changes of a model file's graph and weights: tests/mutants/models.toml has what they do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.mutated.mutated import Floats, Parts, change_weight, node_of, replace_node

_QUERY = "encoder.layer.0.attention.self.query.weight"
_POSITIONS = "embeddings.position_embeddings.weight"

# Harmless


def nothing(parts: Parts) -> None:
    """Nothing is changed; the file is read and written again."""


def multiplies(parts: Parts) -> None:
    """Normalising multiplies by the reciprocal, which differs in the last bit."""
    replace_node(parts, "sentence_embedding", "r = Reciprocal(b) out = Mul(a, r)")


def renames_values(parts: Parts) -> None:
    for node in parts.graph.node:
        node.input[:] = [name.replace("v_", "w_", 1) for name in node.input]
        node.output[:] = [name.replace("v_", "w_", 1) for name in node.output]


# Pooling and steps


def pools_the_first_token(parts: Parts) -> None:
    """The first token's embedding takes the place of the mean."""
    node = node_of(parts, "steps.0/Div")
    node.input[0] = node_of(parts, "encoder/layer.0/output.LayerNorm/LayerNormalization").output[0]
    first = "zero = Constant<value_int = 0>() out = Gather<axis = 1>(a, zero)"
    replace_node(parts, node.output[0], first)


def pools_padding(parts: Parts) -> None:
    node = node_of(parts, "steps.0/Cast")
    node.input[0] = "input_ids"
    replace_node(parts, node.output[0], "all = Equal(a, a) out = Cast<to = 1>(all)")


def leaves_out_the_mean(parts: Parts) -> None:
    replace_node(parts, node_of(parts, "steps.1/Sub").output[0], "out = Identity(a)")


def does_not_normalize(parts: Parts) -> None:
    replace_node(parts, "sentence_embedding", "out = Identity(a)")


def gives_half_precision(parts: Parts) -> None:
    replace_node(
        parts,
        "sentence_embedding",
        "quotient = Div(a, b) half = Cast<to = 10>(quotient) out = Cast<to = 1>(half)",
    )


# Encoder


def attends_to_padding(parts: Parts) -> None:
    replace_node(parts, node_of(parts, "padding_bias/Mul").output[0], "out = Sub(a, a)")


def scores_are_not_scaled(parts: Parts) -> None:
    scaled = node_of(parts, "encoder/layer.0/attention/Div").output[0]
    replace_node(parts, scaled, "out = Identity(a)")


def counts_positions_from_one(parts: Parts) -> None:
    change_weight(parts, _POSITIONS, lambda weight: np.roll(weight, -1, axis=0))


def other_epsilon(parts: Parts) -> None:
    for node in parts.graph.node:
        if node.op_type == "LayerNormalization":
            (epsilon,) = [one for one in node.attribute if one.name == "epsilon"]
            epsilon.f = 1e-5


def approximates_gelu(parts: Parts) -> None:
    """GELU is x sigmoid(1.702 x), as in CLIP; ``a`` of the replaced node is x / sqrt(2)."""
    erf = node_of(parts, "encoder/layer.0/Erf").output[0]
    replace_node(
        parts, erf, "k = Constant<value_float = 1.2034958>() ka = Mul(k, a) out = Tanh(ka)"
    )


# Weights


def one_weight_is_larger(parts: Parts) -> None:
    """One element of a weight is larger by 1 %."""

    def change(weight: Floats) -> Floats:
        weight = weight.copy()
        weight[0, 0] *= 1.01
        return weight

    change_weight(parts, "encoder.layer.0.output.dense.weight", change)


def rounds_to_float16(parts: Parts) -> None:
    for name in _matrices(parts):
        change_weight(parts, name, lambda weight: weight.astype(np.float16).astype(np.float32))


def rounds_to_int8(parts: Parts) -> None:
    def change(weight: Floats) -> Floats:
        step = np.abs(weight).max() / 127
        return (np.round(weight / step) * step).astype(np.float32)

    for name in _matrices(parts):
        change_weight(parts, name, change)


def transposes_a_weight(parts: Parts) -> None:
    change_weight(parts, _QUERY, lambda weight: np.ascontiguousarray(weight.T))


def _matrices(parts: Parts) -> Iterator[str]:
    products = [node for node in parts.graph.node if node.op_type == "MatMul"]
    return (node.input[1] for node in products if node.input[1].endswith(".weight"))
