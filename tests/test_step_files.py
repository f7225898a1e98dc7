"""The files that a step specification names."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from polybake.errors import InputError
from polybake.modelfolder import ModelFolder
from polybake.step_files import read_files
from polybake.steps import Dense, LayerNorm, Pca, Step, Subtract
from tiny_models import write_json

RANDOM = np.random.default_rng(1)
WEIGHT = RANDOM.normal(size=(5, 7)).astype(np.float32)
BIAS = RANDOM.normal(size=5).astype(np.float32)
RESIDUAL = RANDOM.normal(size=(5, 7)).astype(np.float32)

LAYER = {"linear.weight": WEIGHT, "linear.bias": BIAS}
CONFIG = {"in_features": 7, "out_features": 5, "activation_function": "torch.nn.ReLU"}


def read(step: type[Step], base: Path, **values: object) -> dict[str, object]:
    return read_files("steps[1]", step, values, base=base, model=ModelFolder.at(base))


def write_module(folder: Path, config: dict[str, object], tensors: dict[str, np.ndarray]) -> None:
    folder.mkdir()
    write_json(folder / "config.json", config)
    save_file(tensors, folder / "model.safetensors")


def test_arrays_of_any_number_type(tmp_path: Path) -> None:
    """Arrays are read as float32 from below the base folder; other values stay as they are."""
    np.save(tmp_path / "mean.npy", np.arange(7))
    np.save(tmp_path / "rows.npy", WEIGHT.astype(np.float64))
    found = read(Pca, tmp_path, mean="mean.npy", components="rows.npy", other=3)
    assert found.keys() == {"mean", "components", "other"}
    np.testing.assert_array_equal(found["mean"], np.arange(7, dtype=np.float32), strict=True)
    np.testing.assert_array_equal(found["components"], WEIGHT, strict=True)
    assert found["other"] == 3


def test_unpickles_no_array(tmp_path: Path) -> None:
    """A file that holds a pickle is refused and not run."""
    (tmp_path / "evil.npy").write_bytes(pickle.dumps(Trap(tmp_path / "ran")))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "words.npy", np.array(["one"]))
    for name in ("evil.npy", "objects.npy", "words.npy"):
        with pytest.raises(InputError, match=r"steps\[1\]\.vector: .*numpy\.save"):
            read(Subtract, tmp_path, vector=name)
    assert not (tmp_path / "ran").exists()


@dataclasses.dataclass
class Trap:
    """Leaves a file behind when it is unpickled."""

    mark: Path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize(
    ("changes", "more", "expected"),
    [
        ({}, {}, {"residual": None}),
        ({"use_residual": False}, {}, {"residual": None}),
        ({"use_residual": True, "out_features": 7}, {}, {"residual": "identity"}),
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
    """The residual is the input where both sizes of the configuration agree, else a projection."""
    write_module(tmp_path / "2_Dense", CONFIG | changes, LAYER | more)
    found = read(Dense, tmp_path, source="2_Dense")
    whole = {"weight": WEIGHT, "bias": BIAS, "activation": "relu", **expected}
    assert found.keys() == whole.keys()
    for key, value in whole.items():
        np.testing.assert_array_equal(found[key], value)


def test_half_precision_is_widened(tmp_path: Path) -> None:
    """bfloat16 weights become the same numbers in float32."""
    half = {"norm.weight": BIAS.astype(ml_dtypes.bfloat16), "norm.bias": BIAS.astype(np.float16)}
    write_module(tmp_path / "2_LayerNorm", {"dimension": 5}, half)
    found = read(LayerNorm, tmp_path, source="2_LayerNorm")
    assert found.keys() == {"weight", "bias"}
    for key, value in found.items():
        np.testing.assert_array_equal(value, half[f"norm.{key}"].astype(np.float32), strict=True)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"activation_function": "os.system"}, "unknown activation 'system'; known are: Identity"),
        ({"use_residual": True}, "expected linear.bias, linear.weight, residual.weight"),
        ({"bias": False}, "holds linear.bias, linear.weight; expected linear.weight"),
    ],
)
def test_refuses_what_dense_does_not_compute(
    changes: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A Dense module outside the formula is an error, and no class that it names is imported."""
    write_module(tmp_path / "2_Dense", CONFIG | changes, LAYER)
    with pytest.raises(InputError, match=rf"steps\[1\]\.source: .*{shown}"):
        read(Dense, tmp_path, source="2_Dense")


def test_names_a_damaged_module(tmp_path: Path) -> None:
    """A cut-off weight file of a module is named."""
    write_module(tmp_path / "2_Dense", CONFIG, LAYER)
    file = tmp_path / "2_Dense" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"2_Dense.*is not a whole safetensors file"):
        read(Dense, tmp_path, source="2_Dense")
