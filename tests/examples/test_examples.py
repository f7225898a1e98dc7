"""Every network of examples/, run as a user would, against its formula in NumPy."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from safetensors.numpy import save_file

from models.formulas.network_numpy import (
    Floats,
    Weights,
    convolution,
    draw,
    linear,
    linear_shapes,
    lstm,
    lstm_shapes,
)

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LENGTHS = np.array([5, 2, 1, 4, 3])

ERF = np.vectorize(math.erf)


def relu(x: Floats) -> Floats:
    return np.maximum(x, 0)


def mlp(w: Weights, x: Floats) -> Floats:
    return linear(relu(linear(relu(linear(x, w, "layers.0")), w, "layers.1")), w, "layers.2")


def conv(x: Floats, w: Weights, name: str, stride: int = 1) -> Floats:
    weight = w[f"{name}.weight"]
    y = convolution(x, weight, padding=weight.shape[-1] // 2, stride=stride)
    return y + w[f"{name}.bias"][:, None, None] if f"{name}.bias" in w else y


def cnn(w: Weights, image: Floats) -> Floats:
    for name in ("conv1", "conv2"):
        y = relu(conv(image, w, name))
        rows, columns = y.shape[2] // 2, y.shape[3] // 2
        y = y[:, :, : 2 * rows, : 2 * columns].reshape(*y.shape[:2], rows, 2, columns, 2)
        image = y.max(axis=(3, 5))
    return linear(image.mean(axis=(2, 3)), w, "head")


def batch_norm(x: Floats, w: Weights, name: str) -> Floats:
    mean, variance, weight, bias = (
        w[f"{name}.{part}"].astype(np.float64)[:, None, None]
        for part in ("running_mean", "running_var", "weight", "bias")
    )
    return (x - mean) / np.sqrt(variance + 1e-5) * weight + bias


def residual_cnn(w: Weights, image: Floats) -> Floats:
    x = relu(conv(image, w, "stem"))
    for block, stride in (("blocks.0", 1), ("blocks.1", 2)):
        y = relu(batch_norm(conv(x, w, f"{block}.conv1", stride), w, f"{block}.bn1"))
        y = batch_norm(conv(y, w, f"{block}.conv2"), w, f"{block}.bn2")
        x = relu(y + (x if stride == 1 else conv(x, w, f"{block}.shortcut", stride)))
    return linear(x.mean(axis=(2, 3)), w, "head")


def tagger(w: Weights, x: Floats, lengths: np.ndarray) -> Floats:
    states = np.zeros((*x.shape[:2], 10))
    for row, length in enumerate(lengths):
        states[row, :length] = lstm(x[row, :length], w, "lstm.")
    return linear(states, w, "head")


def norm(x: Floats, w: Weights, name: str) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]


def transformer(w: Weights, x: Floats, mask: np.ndarray) -> Floats:
    y = norm(x, w, "norm1")
    query, key, value = (linear(y, w, f"attention.{part}") for part in ("query", "key", "value"))
    mixed = np.zeros_like(query)
    for row, kept in enumerate(mask.astype(bool)):
        for head in (slice(0, 4), slice(4, 8), slice(8, 12)):
            scores = np.exp(query[row, :, head] @ key[row, kept, head].T / 2)
            shares = scores / scores.sum(axis=-1, keepdims=True)
            mixed[row, :, head] = shares @ value[row, kept, head]
    x = x + linear(mixed, w, "attention.output")
    wide = linear(norm(x, w, "norm2"), w, "linear1")
    return x + linear(wide * (1 + ERF(wide / math.sqrt(2))) / 2, w, "linear2")


def convolutions(*sizes: tuple[str, int, int, int]) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (out, ins, k, k) for name, ins, out, k in sizes}


def norms(*names: str, parts: tuple[str, ...], size: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.{part}": (size,) for name in names for part in parts}


@dataclass(frozen=True)
class Example:
    """A file of examples/, what a checkpoint for it holds, its inputs, and what it prints."""

    shapes: dict[str, tuple[int, ...]]
    formula: Callable[..., Floats]
    size: tuple[int, ...]
    signature: str
    more: Callable[[int], dict[str, np.ndarray]] = lambda _: {}


BATCH_NORM = ("weight", "bias", "running_mean", "running_var")

EXAMPLE: dict[str, Example] = {
    "mlp": Example(
        linear_shapes("layers.0", 6, 16)
        | linear_shapes("layers.1", 16, 8)
        | linear_shapes("layers.2", 8, 3),
        mlp,
        (6,),
        "x FLOAT[batch,6] -> y FLOAT[batch,3]",
    ),
    "cnn": Example(
        convolutions(("conv1", 3, 8, 3), ("conv2", 8, 16, 3))
        | {"conv1.bias": (8,), "conv2.bias": (16,)}
        | linear_shapes("head", 16, 10),
        cnn,
        (3, 9, 14),
        "image FLOAT[batch,3,height,width] -> y FLOAT[batch,10]",
    ),
    "residual_cnn": Example(
        convolutions(("stem", 3, 8, 3), ("blocks.0.conv1", 8, 8, 3), ("blocks.0.conv2", 8, 8, 3))
        | convolutions(("blocks.1.conv1", 8, 12, 3), ("blocks.1.conv2", 12, 12, 3))
        | convolutions(("blocks.1.shortcut", 8, 12, 1))
        | {"stem.bias": (8,)}
        | norms("blocks.0.bn1", "blocks.0.bn2", parts=BATCH_NORM, size=8)
        | norms("blocks.1.bn1", "blocks.1.bn2", parts=BATCH_NORM, size=12)
        | linear_shapes("head", 12, 10),
        residual_cnn,
        (3, 9, 14),
        "image FLOAT[batch,3,height,width] -> y FLOAT[batch,10]",
    ),
    "lstm": Example(
        lstm_shapes("lstm.", 6, 5, 2, bidirectional=True) | linear_shapes("head", 10, 4),
        tagger,
        (5, 6),
        "x FLOAT[batch,sequence,6], lengths INT64[batch] -> y FLOAT[batch,sequence,4]",
        lambda batch: {"lengths": LENGTHS[:batch]},
    ),
    "transformer": Example(
        norms("norm1", "norm2", parts=("weight", "bias"), size=12)
        | linear_shapes("linear1", 12, 20)
        | linear_shapes("linear2", 20, 12)
        | {
            name: shape
            for part in ("query", "key", "value", "output")
            for name, shape in linear_shapes(f"attention.{part}", 12, 12).items()
        },
        transformer,
        (5, 12),
        "x FLOAT[batch,sequence,12], mask INT64[batch,sequence] -> y FLOAT[batch,sequence,12]",
        lambda batch: {"mask": (np.arange(5) < LENGTHS[:batch, None]).astype(np.int64)},
    ),
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a file with these arguments; return what it prints."""

    def called(*arguments: object) -> str:
        monkeypatch.setattr("sys.argv", [*map(str, arguments)])
        with pytest.raises(SystemExit, match=r"^0$"):
            runpy.run_path(str(arguments[0]), run_name="__main__")
        return capsys.readouterr().out.strip()

    return called


@pytest.mark.parametrize("name", EXAMPLE)
def test_is_its_formula(name: str, run: Callable[..., str], tmp_path: Path) -> None:
    """Weights from a file give what the formula gives, for every batch size."""
    example = EXAMPLE[name]
    weights = draw(example.shapes)
    save_file(weights, tmp_path / "weights.safetensors")
    out = tmp_path / f"{name}.onnx"
    printed = run(EXAMPLES / f"{name}.py", out, "--weights", tmp_path / "weights.safetensors")
    assert printed == example.signature
    session = ort.InferenceSession(out, providers=["CPUExecutionProvider"])
    first = session.get_inputs()[0].name
    for batch in (1, 2, 5):
        x = np.random.default_rng(batch).normal(size=(batch, *example.size)).astype(np.float32)
        more = example.more(batch)
        (found,) = session.run(["y"], {first: x, **more})
        expected = example.formula(weights, x.astype(np.float64), *more.values())
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
        assert np.ptp(expected) > 0.1, "the formula tells nothing"


def test_random_weights(run: Callable[..., str], tmp_path: Path) -> None:
    """Weights are random if no file is given, and the same in every run."""
    for name in ("a.onnx", "b.onnx"):
        run(EXAMPLES / "residual_cnn.py", tmp_path / name)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    session = ort.InferenceSession(tmp_path / "a.onnx", providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).normal(size=(2, 3, 9, 14)).astype(np.float32)
    (found,) = session.run(None, {"image": x})
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0


def test_every_example_is_tested_and_listed() -> None:
    """The files, the tests above, and the page's list are the same."""
    files = {path.stem for path in EXAMPLES.glob("*.py")}
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert files == EXAMPLE.keys()
    assert all(f"[{name}.py]({name}.py)" in page for name in files)
