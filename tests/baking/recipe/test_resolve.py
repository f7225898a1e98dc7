"""The step tables of polybake.toml, and the files that they name, become steps."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import write_bert, write_json
from polybake.baking.recipe.resolve import resolve
from polybake.baking.recipe.step_files import read_files
from polybake.baking.sources import Source, open_source
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.steps import Dense, Normalize, Pca, Pool, Route, Step, Subtract

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
        ({"mode": "mean"}, r"step: unknown step None"),
        ({"step": "pool"}, "mode: "),
        ({"step": "pool", "mode": "median"}, "mode: unknown mode 'median'; .*'lasttoken'$"),
        ({"step": "pol"}, r"step: unknown step 'pol'; .* \(did you mean pool\?\)"),
        ({"step": "pool", "mode": "mean", "size": 3}, "size: unknown key; .*: mode"),
        ({"step": "truncate", "dimensions": 3}, r"dimensions: unknown key; .* mean dimension\?"),
        ({"step": "normalize", "p": 2}, "p: unknown key; choose one of: none"),
        ({"step": "subtract"}, "vector: is missing; add it"),
        ({"step": "subtract", "vector": [1.0]}, "vector: expected a path"),
        ({"step": "subtract", "vector": "no.npy"}, r"vector: .*no\.npy cannot be read"),
        ({"step": "scale", "factor": "two"}, "factor: .*number, found 'two'"),
        ({"step": "dense", "source": "3_Dense"}, "source: .*3_Dense: has no c"),
    ],
)
def test_names_the_key_at_fault(
    spec: dict[str, object], shown: str, source: Source, tmp_path: Path
) -> None:
    """An error begins with the path of the key, and gives value and choices."""
    with pytest.raises(InputError, match=rf"^steps\[1\]\.{shown}"):
        resolve([{"step": "pool", "mode": "mean"}, spec], base=tmp_path, source=source)


def test_resolves_the_steps_of_each_route(source: Source, tmp_path: Path) -> None:
    """Files are read within routes, too, and a fault names its place there."""
    routes = {"query": [{"step": "dense", "source": "2_Dense"}], "document": []}
    spec = {"step": "route", "default": "query", "routes": routes}
    (step,) = resolve([spec], base=tmp_path, source=source)
    assert isinstance(step, Route)
    (dense,) = step.routes["query"]
    assert isinstance(dense, Dense)
    assert np.array_equal(dense.weight, WEIGHT)
    routes["document"] = [{"step": "normalise"}]
    with pytest.raises(InputError, match=r"^steps\[0\]\.routes\.document\[0\]\.step: unknown step"):
        resolve([spec], base=tmp_path, source=source)


@pytest.mark.parametrize("routes", [None, ["query"], {"query": ["pool"]}])
def test_routes_are_lists_of_steps(routes: object, source: Source, tmp_path: Path) -> None:
    """Anything else is shown as it was found."""
    spec = {"step": "route", "default": "query", "routes": routes}
    with pytest.raises(InputError, match=r"steps\[0\]\.routes: expected a list of steps for each"):
        resolve([spec], base=tmp_path, source=source)


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
