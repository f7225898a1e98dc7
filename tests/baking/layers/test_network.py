"""Networks written as ONNX files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnxscript import OpBuilder, ir, nn
from safetensors.numpy import save_file

from models.formulas.network_numpy import draw, linear_shapes
from polybake.baking.layers.convolution import BatchNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.network import write_network
from polybake.errors import InputError


class Network(nn.Module):
    """A linear layer, then a normalisation, so that values by default and drawn ones meet."""

    def __init__(self, called: bool = True) -> None:
        super().__init__()
        self.linear = Linear(3, 4)
        self.norm = BatchNorm(4)
        self.called = called

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        y = self.linear(op, x)
        return self.norm(op, y) if self.called else y


def write(folder: Path, network: nn.Module, weights: dict[str, np.ndarray] | None = None) -> Path:
    x = ir.val("x", ir.DataType.FLOAT, ["batch", 3])
    file = None
    if weights is not None:
        file = folder / "weights.safetensors"
        save_file(weights, file)
    signature = write_network(network, [x], folder / "n.onnx", file)
    assert signature == "x FLOAT[batch,3] -> y FLOAT[batch,4]"
    return folder / "n.onnx"


WEIGHTS = draw(
    linear_shapes("linear", 3, 4)
    | {f"norm.{name}": (4,) for name in ("weight", "bias", "running_mean", "running_var")}
)


def test_takes_the_weights_of_a_file(tmp_path: Path) -> None:
    """Weights are found by PyTorch's names; a count of training batches is no weight."""
    counted = WEIGHTS | {"norm.num_batches_tracked": np.array(7)}
    path = write(tmp_path, Network(), counted)
    x = np.eye(3, dtype=np.float32)
    (found,) = ort.InferenceSession(path).run(None, {"x": x})
    w = WEIGHTS
    mean, variance = w["norm.running_mean"], w["norm.running_var"]
    y = (x @ w["linear.weight"].T + w["linear.bias"] - mean) / np.sqrt(variance + 1e-5)
    np.testing.assert_allclose(found, y * w["norm.weight"] + w["norm.bias"], atol=1e-6)


def test_draws_what_has_no_value(tmp_path: Path) -> None:
    """Without a file, linear weights are random and a normalisation begins with its own values."""
    written = onnx.load(write(tmp_path, Network())).graph.initializer
    found = {one.name: onnx.numpy_helper.to_array(one) for one in written}
    assert 0.05 < found["linear.weight"].std() < 0.5
    assert (found["norm.running_var"] == 1).all()
    assert not found["norm.running_mean"].any()


def test_lists_all_that_does_not_fit(tmp_path: Path) -> None:
    """Missing, unexpected and misshapen weights are named at once, and nothing is written."""
    wrong = WEIGHTS | {"linear.weight": np.ones((3, 4), np.float32), "head": np.ones(2, np.float32)}
    del wrong["norm.bias"]
    with pytest.raises(InputError, match=r"linear.weight has shape \[3, 4\].*norm.bias.*head"):
        write(tmp_path, Network(), wrong)
    assert not (tmp_path / "n.onnx").exists()


def test_finds_a_module_that_is_never_called(tmp_path: Path) -> None:
    """A parameter outside the graph is an error in the network."""
    with pytest.raises(RuntimeError, match=r"without an initializer: norm\.bias"):
        write(tmp_path, Network(called=False))
