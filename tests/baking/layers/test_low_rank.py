"""A weight with an adapter's product."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from polybake.baking.layers.low_rank import with_product
from polybake.baking.layers.stored_tensor import StoredTensor, stored_tensors
from polybake.errors import InputError

SIZES = {"weight": (5, 7), "left": (3, 5, 2), "right": (3, 2, 7)}


def stored(folder: Path, dtype: type = np.float32) -> dict[str, StoredTensor]:
    random = np.random.default_rng(3)
    arrays = {name: random.normal(size=size).astype(dtype) for name, size in SIZES.items()}
    save_file(arrays, folder / "model.safetensors")
    return {one.name: one for one in stored_tensors(folder / "model.safetensors")}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_is_the_sum(dtype: type, tmp_path: Path) -> None:
    """It is computed in float32, whatever the file holds, and keeps the weight's name."""
    found = stored(tmp_path, dtype)
    made = with_product(**found, place=1, scale=0.25)
    weight, left, right = (one.array().astype(np.float64) for one in map(found.get, SIZES) if one)
    assert (made.name, made.shape, made.dtype) == ("weight", (5, 7), "F32")
    assert made.array().dtype == np.float32
    np.testing.assert_allclose(
        made.array(), weight + 0.25 * left[1] @ right[1], rtol=1e-5, atol=1e-6
    )


def test_reads_nothing_before_it_is_asked(tmp_path: Path) -> None:
    """A bake holds a few weights at a time."""

    def unread() -> np.ndarray:  # type: ignore[type-arg]
        raise AssertionError

    unopened = {name: replace(one, array=unread) for name, one in stored(tmp_path).items()}
    with_product(**unopened, place=0, scale=1.0)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("left", (5, 2)),
        ("left", (1, 5, 2)),
        ("left", (3, 5, 4)),
        ("right", (2, 2, 7)),
        ("weight", (5, 6)),
    ],
)
def test_refuses_other_sizes(name: str, size: tuple[int, ...], tmp_path: Path) -> None:
    """The message shows the sizes of all three."""
    found = stored(tmp_path)
    found[name] = replace(found[name], shape=size)
    with pytest.raises(InputError, match=r"do not fit: weight \[.*left \[.*right \["):
        with_product(**found, place=2, scale=1.0)
