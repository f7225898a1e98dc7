"""The files that a step specification names."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from polybake.baking.recipe.step_files import read_files
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.steps import Pca, Step, Subtract

RANDOM = np.random.default_rng(1)
WEIGHT = RANDOM.normal(size=(5, 7)).astype(np.float32)


def read(step: type[Step], base: Path, **values: object) -> dict[str, object]:
    return read_files("steps[1]", step, values, base=base, model=ModelFolder.at(base))


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


def header(text: str) -> bytes:
    """A NumPy file of one number, with this header."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + b"\0" * 4


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04garbage",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000,)}\n"),
        header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({10**30},)}}\n"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,\n"),
        header("{'descr' '<f4' )\n"),
        header("(" * 3000),
    ],
)
def test_names_a_damaged_array(content: bytes, tmp_path: Path) -> None:
    """However a file is damaged, the error is one line with its key, its path and the remedy."""
    (tmp_path / "mean.npy").write_bytes(content)
    shown = r"^steps\[1\]\.vector: .*mean\.npy cannot be read .*; write it with numpy\.save$"
    with pytest.raises(InputError, match=shown) as caught:
        read(Subtract, tmp_path, vector="mean.npy")
    assert "\n" not in str(caught.value)


@dataclasses.dataclass
class Trap:
    """Leaves a file behind when it is unpickled."""

    mark: Path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.mark,))
