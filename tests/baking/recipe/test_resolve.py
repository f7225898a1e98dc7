"""The step tables of polybake.toml become steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import write_bert, write_json
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import Source, open_source
from polybake.errors import InputError
from polybake.steps import Dense, Normalize, Pool, Route, Subtract

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
        ({"step": "pool", "mode": "median"}, "mode: .*'mean'.*found 'median'"),
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
