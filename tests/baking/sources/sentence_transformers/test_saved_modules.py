"""The modules that sentence-transformers saved beside an encoder."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import write_json
from polybake.baking.sources.sentence_transformers.saved_modules import FOLLOWING
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

RANDOM = np.random.default_rng(1)
WEIGHT = RANDOM.normal(size=(5, 7)).astype(np.float32)
BIAS = RANDOM.normal(size=5).astype(np.float32)
RESIDUAL = RANDOM.normal(size=(5, 7)).astype(np.float32)

LAYER = {"linear.weight": WEIGHT, "linear.bias": BIAS}
CONFIG = {"in_features": 7, "out_features": 5, "activation_function": "torch.nn.ReLU"}


def read(kind: str, folder: Path) -> dict[str, object]:
    return FOLLOWING[kind].parameters(ModelFolder.at(folder))


def write_module(
    folder: Path,
    config: dict[str, object],
    tensors: dict[str, np.ndarray],
    name: str = "config.json",
) -> None:
    folder.mkdir()
    write_json(folder / name, config)
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("changes", "more", "expected"),
    [
        ({}, {}, {"residual": None}),
        ({"use_residual": False}, {}, {"residual": None}),
        (
            {"use_residual": True},
            {"residual.weight": RESIDUAL},
            {"residual": "projection", "residual_weight": RESIDUAL},
        ),
    ],
)
def test_dense_with_every_residual(
    changes: dict[str, object],
    more: dict[str, np.ndarray],
    expected: dict[str, object],
    tmp_path: Path,
) -> None:
    """A residual between two sizes is a projection."""
    write_module(tmp_path / "2_Dense", CONFIG | changes, LAYER | more)
    found = read("Dense", tmp_path / "2_Dense")
    whole = {"weight": WEIGHT, "bias": BIAS, "activation": "relu", **expected}
    assert found.keys() == whole.keys()
    for key, value in whole.items():
        np.testing.assert_array_equal(found[key], value)


def test_dense_with_a_residual_of_its_own_size(tmp_path: Path) -> None:
    """Where both sizes agree, the residual is the input itself."""
    square = {"linear.weight": WEIGHT[:, :5].copy(), "linear.bias": BIAS}
    config = CONFIG | {"use_residual": True, "in_features": 5}
    write_module(tmp_path / "2_Dense", config, square)
    assert read("Dense", tmp_path / "2_Dense")["residual"] == "identity"


def test_half_precision_is_widened(tmp_path: Path) -> None:
    """bfloat16 weights become the same numbers in float32."""
    half = {"norm.weight": BIAS.astype(ml_dtypes.bfloat16), "norm.bias": BIAS.astype(np.float16)}
    write_module(tmp_path / "2_LayerNorm", {"dimension": 5}, half)
    found = read("LayerNorm", tmp_path / "2_LayerNorm")
    assert found.keys() == {"weight", "bias"}
    for key, value in found.items():
        np.testing.assert_array_equal(value, half[f"norm.{key}"].astype(np.float32), strict=True)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"activation_function": "os.system"}, "activation_function: unknown class 'os.system'"),
        ({"in_features": "7"}, "in_features: Input should be a valid integer, found '7'"),
        ({"in_features": 8}, "in_features = 8, but linear.weight has 7"),
        ({"out_features": 6}, "out_features = 6, but linear.weight has 5"),
        ({"use_residual": True}, "expected linear.bias, linear.weight, residual.weight"),
        ({"bias": False}, "holds linear.bias, linear.weight; expected linear.weight"),
    ],
)
def test_refuses_what_dense_does_not_compute(
    changes: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A Dense module outside the formula is an error, and no class that it names is imported."""
    write_module(tmp_path / "2_Dense", CONFIG | changes, LAYER)
    with pytest.raises(InputError, match=rf"2_Dense.*: .*{shown}"):
        read("Dense", tmp_path / "2_Dense")


def test_names_a_damaged_module(tmp_path: Path) -> None:
    """A cut-off weight file of a module is named."""
    write_module(tmp_path / "2_Dense", CONFIG, LAYER)
    file = tmp_path / "2_Dense" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"2_Dense.*is not a whole safetensors file"):
        read("Dense", tmp_path / "2_Dense")


def test_cnn(tmp_path: Path) -> None:
    """Sizes come from cnn_config.json, weights keep their names, strides of 1 change nothing."""
    config = {"out_channels": 5, "kernel_sizes": [1], "stride_sizes": [1]}
    tensors = {"convs.0.weight": WEIGHT[..., None], "convs.0.bias": BIAS}
    write_module(tmp_path / "1_CNN", config, tensors, "cnn_config.json")
    found = read("CNN", tmp_path / "1_CNN")
    assert found.keys() == {"channels", "kernel_sizes", "weights"}
    assert (found["channels"], found["kernel_sizes"]) == (5, (1,))
    assert found["weights"].keys() == tensors.keys()


def test_cnn_that_leaves_tokens_out(tmp_path: Path) -> None:
    """A stride beyond 1 has fewer vectors than tokens, and is refused."""
    config = {"out_channels": 5, "kernel_sizes": [1, 3], "stride_sizes": [1, 2]}
    write_module(tmp_path / "1_CNN", config, {}, "cnn_config.json")
    with pytest.raises(InputError, match=r"stride_sizes\[1\]: Input should be 1, found 2"):
        read("CNN", tmp_path / "1_CNN")


@pytest.mark.parametrize(
    ("more", "layers", "bidirectional"),
    [({}, 1, True), ({"num_layers": 3, "bidirectional": False, "dropout": 0.5}, 3, False)],
)
def test_lstm(more: dict[str, object], layers: int, bidirectional: bool, tmp_path: Path) -> None:
    """Sizes come from lstm_config.json with the module's defaults; weights lose their prefix."""
    tensors = {"encoder.bias_ih_l0": BIAS}
    write_module(tmp_path / "1_LSTM", {"hidden_dim": 5, **more}, tensors, "lstm_config.json")
    found = read("LSTM", tmp_path / "1_LSTM")
    assert found.keys() == {"hidden", "layers", "bidirectional", "weights"}
    assert (found["hidden"], found["layers"]) == (5, layers)
    assert found["bidirectional"] is bidirectional
    assert found["weights"].keys() == {"bias_ih_l0"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("torch.nn.ReLU", "relu"),
        ("torch.nn.modules.activation.GELU", "gelu"),
        ("torch.nn.modules.linear.Identity", "identity"),
        (None, "tanh"),
    ],
)
def test_activations_of_pytorch(path: str | None, name: str, tmp_path: Path) -> None:
    """A class is known by where PyTorch defines it and where it is imported from."""
    named = {} if path is None else {"activation_function": path}
    write_module(tmp_path / "2_Dense", named, LAYER)
    assert read("Dense", tmp_path / "2_Dense")["activation"] == name


@pytest.mark.parametrize(
    ("path", "silent"),
    [
        ("mine.Tanh", True),
        ("Sigmoid", True),
        ("torch.nn.LeakyReLU", False),
        ("torch.ao.nn.quantized.Sigmoid", False),
    ],
)
def test_refuses_other_activations(path: str, silent: bool, tmp_path: Path) -> None:
    """The last name alone says nothing; where the library takes another instead, this is said."""
    write_module(tmp_path / "2_Dense", {"activation_function": path}, LAYER)
    shown = rf"2_Dense/config\.json: activation_function: unknown class '{path}'"
    with pytest.raises(InputError, match=shown) as raised:
        read("Dense", tmp_path / "2_Dense")
    assert ("sentence-transformers passes over" in str(raised.value)) is silent
    assert "name one of torch.nn.Identity, torch.nn.Tanh" in str(raised.value)


@pytest.mark.parametrize("weights", [["a"], {"a": "1"}, {"a": float("nan")}])
def test_names_weights_that_are_no_numbers(tmp_path: Path, weights: object) -> None:
    """Texts, NaN and lists are no weights."""
    write_json(tmp_path / "config.json", {"vocab": ["a"], "word_weights": weights})
    with pytest.raises(InputError, match=r"config\.json: word_weights.*: Input should be a"):
        read("WordWeights", tmp_path)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Dense", "config.json"),
        ("CNN", "cnn_config.json"),
        ("LSTM", "lstm_config.json"),
        ("Pooling", "config.json"),
        ("WeightedLayerPooling", "config.json"),
        ("WordWeights", "config.json"),
    ],
)
def test_needs_the_configuration(kind: str, name: str, tmp_path: Path) -> None:
    """A module without its configuration is incomplete; no default stands in for it."""
    write_module(tmp_path / "1_Module", {}, LAYER, "other.json")
    with pytest.raises(InputError, match=f"1_Module: has no {name}; download the whole model"):
        read(kind, tmp_path / "1_Module")
