"""The modules that nodes belong to."""

from __future__ import annotations

import pytest
from onnxscript import ir

from polybake.baking.graph.namespace import namespace


@pytest.mark.parametrize(
    ("name", "stated", "expected"),
    [
        ("encoder/layer.0/MatMul_1", None, ("encoder", "layer.0")),
        ("/layers.3/mlp/Add", None, ("layers.3", "mlp")),
        ("node_1", ": Bert/encoder: Stack/layer.0: Layer", ("encoder", "layer.0")),
        ("n", ": Bert/encoder: Stack/encoder.layer.0: Layer", ("encoder", "layer.0")),
        ("a/b", "steps.0: Pool", ("steps.0",)),
        ("MatMul", None, ()),
        (None, None, ()),
    ],
)
def test_namespace(name: str | None, stated: str | None, expected: tuple[str, ...]) -> None:
    """Metadata of a builder comes first, then the path in the node's name."""
    node = ir.node("Add", [], name=name, num_outputs=1)
    if stated:
        node.metadata_props["namespace"] = stated
    assert namespace(node) == expected
