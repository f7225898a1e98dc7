"""From specifications, as polybake.toml has them, to steps."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from polybake.errors import InputError
from polybake.recipe import resolve
from polybake.sources import Source, open_source
from polybake.steps import Dense, Normalize, Pool, Subtract
from tiny_models import change_json, write_bert, write_json

WEIGHT = np.random.default_rng(1).normal(size=(5, 12)).astype(np.float32)
BIAS = np.arange(5, dtype=np.float32)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    folder = write_bert(tmp_path / "model")
    (folder / "2_Dense").mkdir()
    write_json(
        folder / "2_Dense" / "config.json",
        {
            "in_features": 12,
            "out_features": 5,
            "bias": True,
            "activation_function": "torch.nn.modules.activation.ReLU",
        },
    )
    save_file(
        {"linear.weight": WEIGHT, "linear.bias": BIAS}, folder / "2_Dense" / "model.safetensors"
    )
    return open_source(folder)


def test_gives_steps_in_order(source: Source, tmp_path: Path) -> None:
    """Each specification becomes its step, with the files it names read."""
    vector = np.arange(12.0)
    np.save(tmp_path / "mean.npy", vector)
    steps = resolve(
        [
            {"step": "pool", "mode": "mean"},
            {"step": "subtract", "vector": "mean.npy"},
            {"step": "dense", "source": "2_Dense"},
            {"step": "normalize"},
        ],
        base=tmp_path,
        source=source,
    )
    pool, subtract, dense, normalize = steps
    assert isinstance(pool, Pool)
    assert isinstance(normalize, Normalize)
    assert isinstance(subtract, Subtract)
    assert (subtract.vector == vector).all()
    assert isinstance(dense, Dense)
    assert (dense.weight == WEIGHT).all()
    assert dense.bias is not None
    assert (dense.bias == BIAS).all()
    assert dense.activation == "relu"


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"step": "pol"}, r"steps\[1\]\.step: unknown step 'pol'; choose one of: pool, normalize"),
        ({"mode": "mean"}, r"steps\[1\]\.step: unknown step None"),
        ({"step": "pool"}, r"steps\[1\]\.mode: "),
        ({"step": "pool", "mode": "median"}, r"steps\[1\]\.mode: .*'mean'.*found 'median'"),
        ({"step": "pool", "mode": "mean", "size": 3}, r"steps\[1\]\.size: unknown key; .*: mode"),
        ({"step": "normalize", "p": 2}, r"steps\[1\]\.p: unknown key; choose one of: none"),
        ({"step": "subtract"}, r"steps\[1\]\.vector: expected a path, found None"),
        ({"step": "subtract", "vector": [1.0]}, r"steps\[1\]\.vector: expected a path"),
        ({"step": "subtract", "vector": "no.npy"}, r"steps\[1\]\.vector: .*no\.npy cannot be read"),
        ({"step": "dense", "weight": [[1.0]]}, r"steps\[1\]\.weight: unknown key; .*: source"),
        ({"step": "dense", "source": "../x"}, "lies outside the model's folder"),
        ({"step": "dense", "source": "3_Dense"}, r"3_Dense has no model\.safetensors"),
    ],
)
def test_names_the_key_at_fault(
    spec: dict[str, object], shown: str, source: Source, tmp_path: Path
) -> None:
    """An error begins with the path of the key, and gives value and choices."""
    with pytest.raises(InputError, match=shown):
        resolve([{"step": "pool", "mode": "mean"}, spec], base=tmp_path, source=source)


def test_unpickles_no_vector(source: Source, tmp_path: Path) -> None:
    """A vector file that holds a pickle is refused and not run."""
    (tmp_path / "evil.npy").write_bytes(pickle.dumps(Trap(tmp_path / "ran")))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ("evil.npy", "objects.npy"):
        with pytest.raises(InputError, match=r"steps\[0\]\.vector: .*numpy\.save"):
            resolve([{"step": "subtract", "vector": name}], base=tmp_path, source=source)
    assert not (tmp_path / "ran").exists()


@dataclasses.dataclass
class Trap:
    """Leaves a file behind when it is unpickled."""

    mark: Path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"activation_function": "os.system"}, "unknown activation 'system'; known are: Identity"),
        ({"use_residual": True}, "use_residual is not supported"),
        ({"bias": False}, "holds linear.bias, linear.weight; expected linear.weight"),
    ],
)
def test_refuses_what_dense_does_not_compute(
    changes: dict[str, object], shown: str, source: Source, tmp_path: Path
) -> None:
    """A Dense module outside the formula is an error, and no class that it names is imported."""
    change_json(source.folder / "2_Dense" / "config.json", **changes)
    with pytest.raises(InputError, match=shown):
        resolve([{"step": "dense", "source": "2_Dense"}], base=tmp_path, source=source)


def test_names_a_damaged_dense(source: Source, tmp_path: Path) -> None:
    """A cut-off weight file of a Dense module is named."""
    file = source.folder / "2_Dense" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"2_Dense.*is not a whole safetensors file"):
        resolve([{"step": "dense", "source": "2_Dense"}], base=tmp_path, source=source)
