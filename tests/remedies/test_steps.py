"""What the steps of polybake.toml are refused for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.tiny_folders import CONFIG, write_bert
from remedies.followed import MEAN, bake, refused

SIZE = CONFIG["hidden_size"]
CHOICES = "'cls', 'max', 'mean', "

Steps = list[dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BERT; beside it the arrays that steps name, by their sizes."""
    made = write_bert(tmp_path / "model")
    random = np.random.default_rng(1)
    for sizes in ((SIZE,), (5,), (SIZE, SIZE), (5, SIZE), (SIZE, 5), (2, SIZE), (3,)):
        array = random.normal(size=sizes).astype(np.float32)
        np.save(tmp_path / f"{'x'.join(map(str, sizes))}.npy", array)
    np.save(tmp_path / "nan.npy", np.full(SIZE, np.nan, np.float32))
    low, high = np.full(SIZE, -1, np.float32), np.full(SIZE, 1, np.float32)
    np.save(tmp_path / "ranges.npy", np.stack([low, high]))
    np.save(tmp_path / "turned.npy", np.stack([high, low]))
    np.save(tmp_path / "right.npy", np.linalg.qr(random.normal(size=(SIZE, 3)))[0].T)
    np.savez(tmp_path / "several.npz", low, high)
    (tmp_path / "text.npy").write_text("1 2 3")
    return made


def one(step: str, **values: Any) -> Steps:
    """A step behind a pooling."""
    return [*MEAN, {"step": step, **values}]


RANGES = {"precision": "int8", "ranges": "ranges.npy"}
TWO = {"query": [{"step": "pool", "mode": "cls"}], "document": MEAN}


def routed(default: str = "document", **routes: Any) -> dict[str, Any]:
    """A route step."""
    return {"step": "route", "routes": routes or TWO, "default": default}


@pytest.mark.parametrize(
    ("name", "wrong", "message", "right"),
    [
        (
            "recipe/resolve.py: unknown step",
            one("normalise"),
            "unknown step 'normalise'; choose one of: .*normalize",
            one("normalize"),
        ),
        (
            "recipe/resolve.py: the model has no",
            [{"step": "head"}],
            "list the steps that stand in its place",
            MEAN,
        ),
        (
            "recipe/resolve.py: expected a list of steps for each route",
            [routed(query="cls", document="mean")],
            "expected a list of steps for each route, found .*'query': 'cls'",
            [routed()],
        ),
        (
            "recipe/step_files.py: cannot be read as a NumPy array",
            one("subtract", vector="text.npy"),
            "text.npy cannot be read as a NumPy array .*; write it with numpy.save",
            one("subtract", vector="12.npy"),
        ),
        (
            "recipe/step_files.py: holds no array of numbers",
            one("subtract", vector="several.npz"),
            "several.npz holds no array of numbers; write it with numpy.save",
            one("subtract", vector="12.npy"),
        ),
        (
            "steps/activation.py: unknown function",
            one("activation", function="relu6"),
            "unknown function 'relu6'; choose one of: .*relu",
            one("activation", function="relu"),
        ),
        (
            "steps/arrays.py: make the array again",
            one("subtract", vector="nan.npy"),
            r"found nan at \[0\] .*; make the array again",
            one("subtract", vector="12.npy"),
        ),
        (
            "steps/arrays.py: give both of one fit",
            one("whiten", mean="12.npy", matrix="5x12.npy"),
            "takes 5 elements and the mean has 12; give both of one fit",
            one("whiten", mean="12.npy", matrix="12x5.npy"),
        ),
        (
            "steps/arrays.py: made with the same encoder",
            one("subtract", vector="5.npy"),
            "takes 5 elements and the embedding has 12; give one for 12",
            one("subtract", vector="12.npy"),
        ),
        (
            "steps/arrays.py: put it after a step that pools",
            [{"step": "quantize", **RANGES}],
            "quantize takes .* and is given FLOAT .*; put it after a step that pools",
            one("quantize", **RANGES),
        ),
        (
            "steps/arrays.py: put it before the step that pools",
            one("leave_out", ids=[1]),
            r"leave_out takes token .* and is given \[.*, ?12\]; put it before the step that pools",
            [{"step": "leave_out", "ids": [1]}, *MEAN],
        ),
        (
            "steps/dense.py: give both of one layer",
            one("dense", weight="5x12.npy", bias="12.npy"),
            "has 12 elements and the weight gives 5; give both of one layer",
            one("dense", weight="5x12.npy", bias="5.npy"),
        ),
        (
            "steps/dense.py: unknown activation",
            one("dense", weight="5x12.npy", activation="relu6"),
            "unknown activation 'relu6'; choose one of: .*relu",
            one("dense", weight="5x12.npy", activation="relu"),
        ),
        (
            "steps/dense.py: residual is identity",
            one("dense", weight="5x12.npy", residual="identity"),
            "makes 5 elements of 12; give residual = 'projection' and its residual_weight",
            one("dense", weight="5x12.npy", residual="projection", residual_weight="5x12.npy"),
        ),
        (
            "steps/keep_largest.py: give at most",
            one("keep_largest", count=13),
            "the count is 13 and the embedding has 12 elements; give at most 12",
            one("keep_largest", count=12),
        ),
        (
            "steps/layer_norm.py: give both of one layer",
            one("layer_norm", weight="12.npy", bias="5.npy"),
            "has 5 elements and the weight 12; give both of one layer",
            one("layer_norm", weight="12.npy", bias="12.npy"),
        ),
        (
            "steps/pool.py: no mode is given",
            [{"step": "pool", "mode": []}],
            f"no mode is given; choose from: {CHOICES}",
            [{"step": "pool", "mode": ["mean"]}],
        ),
        (
            "steps/pool.py: unknown mode",
            [{"step": "pool", "mode": "median"}],
            f"unknown mode 'median'; choose from: {CHOICES}",
            [{"step": "pool", "mode": "max"}],
        ),
        (
            "steps/pool.py: drop the pool step",
            [*MEAN, {"step": "normalize"}, *MEAN],
            "one vector a text already; drop the pool step",
            one("normalize"),
        ),
        (
            "steps/quantize.py: tanh goes with",
            one("quantize", **RANGES | {"precision": "uint8", "function": "tanh"}),
            'precision uint8 and ranges; .*: set precision = "int8" and drop ranges',
            one("quantize", precision="int8", function="tanh"),
        ),
        (
            "steps/quantize.py: takes no ranges",
            one("quantize", **RANGES | {"precision": "binary"}),
            "binary takes no ranges; drop them",
            [*MEAN, {"step": "truncate", "dimension": 8}, one("quantize", precision="binary")[1]],
        ),
        (
            "steps/quantize.py: put the smallest values into the first row",
            one("quantize", precision="int8", ranges="turned.npy"),
            "dimension 0 begins at 1 and ends at -1; put the smallest values into the first row",
            one("quantize", **RANGES),
        ),
        (
            "steps/quantize.py: eight dimensions make a byte",
            one("quantize", precision="ubinary"),
            'has 12; put before it: step = "truncate", dimension = 8$',
            [*MEAN, {"step": "truncate", "dimension": 8}, one("quantize", precision="ubinary")[1]],
        ),
        (
            "steps/remove_components.py: at right angles",
            one("remove_components", mean="12.npy", components="2x12.npy"),
            "the 2 rows of 12 elements .*; give principal components, one a row",
            one("remove_components", mean="12.npy", components="right.npy"),
        ),
        (
            "steps/route.py: list all routes in one",
            [routed("a", a=[routed()], b=MEAN)],
            "a route holds a route step; list all routes in one",
            [routed()],
        ),
        (
            "steps/route.py: put one after the route step",
            [routed(query=one("quantize", **RANGES), document=MEAN)],
            "a route holds a quantize step; put one after the route step",
            [routed(), {"step": "quantize", **RANGES}],
        ),
        (
            "steps/route.py: has the empty name",
            [routed(**{"": MEAN, "document": MEAN})],
            "a route or a prompt has the empty name; name it",
            [routed(query=MEAN, document=MEAN)],
        ),
        (
            "steps/route.py: unknown route",
            [routed("title")],
            "unknown route 'title'; choose one of: query, document",
            [routed()],
        ),
        (
            "steps/route.py: make them equal",
            [routed(query=one("truncate", dimension=5), document=MEAN)],
            "end in different sizes: query .*5.*document .*12.*; make them equal",
            [routed(query=one("truncate", dimension=5), document=one("truncate", dimension=5))],
        ),
        (
            "steps/select.py: count from 0",
            one("select", places=[12]),
            "place 12 is chosen, and the embedding has 12 elements; count from 0",
            one("select", places=[11]),
        ),
        (
            "steps/truncate.py: give at most",
            one("truncate", dimension=13),
            "the dimension is 13 and the embedding has 12 elements; give at most 12",
            one("truncate", dimension=12),
        ),
        (
            "steps/weighted_layer_pooling.py: put it first",
            [
                {"step": "normalize"},
                {"step": "weighted_layer_pooling", "weights": "3.npy", "layer_start": 0},
                *MEAN,
            ],
            "what stands before it is lost; put it first",
            [{"step": "weighted_layer_pooling", "weights": "3.npy", "layer_start": 0}, *MEAN],
        ),
        (
            "steps/weighted_layer_pooling.py: give one weight for each",
            [{"step": "weighted_layer_pooling", "weights": "5.npy", "layer_start": 0}, *MEAN],
            "has 5 weights, .* 3 hidden states, 3 of them from layer_start 0; give one weight",
            [{"step": "weighted_layer_pooling", "weights": "3.npy", "layer_start": 0}, *MEAN],
        ),
        (
            "assemble/fold.py: to the end",
            [*MEAN, {"step": "quantize", **RANGES}, {"step": "normalize"}],
            r"steps\[2\]: stands after quantize; move quantize to the end",
            [*MEAN, {"step": "normalize"}, {"step": "quantize", **RANGES}],
        ),
        (
            "assemble/fold.py: add a step that pools",
            [{"step": "normalize"}],
            r'end in \[.*; add a step that pools, such as: step = "pool", mode = "mean"',
            [{"step": "normalize"}, *MEAN],
        ),
        (
            "assemble/prompts.py: put their routes into one",
            [routed(), routed("a", a=[], b=[])],
            "2 are route steps; put their routes into one",
            [routed()],
        ),
    ],
)
def test_the_steps_are_changed(
    folder: Path, name: str, wrong: Steps, message: str, right: Steps
) -> None:
    """What the remedy says of a step is done in its table."""
    with refused(name, message):
        bake(folder, steps=wrong)
    bake(folder, steps=right)
