"""Parameters that no step takes, and embeddings that a step does not take."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from polybake.baking.steps.arrays import Matrix
from polybake.errors import InputError
from polybake.steps import (
    Dense,
    Dropout,
    Hybrid,
    KeepLargest,
    LayerNorm,
    LeaveOut,
    LeaveOutEnds,
    Normalize,
    Pca,
    Pool,
    Quantize,
    RemoveComponents,
    Scale,
    Select,
    Spans,
    Splade,
    State,
    Step,
    Subtract,
    Truncate,
    Unpad,
    WeightedLayerPooling,
    Whiten,
)

RANDOM = np.random.default_rng(8)
WEIGHT = RANDOM.normal(size=(5, 7)).astype(np.float32)
ROW, BIAS = WEIGHT[0], WEIGHT[:, 0]
ORTHONORMAL = np.linalg.qr(RANDOM.normal(size=(7, 2)))[0].T.astype(np.float32)
RANGES = np.stack([np.full(16, -1), np.full(16, 1)]).astype(np.float32)
INFINITE = float("inf")


@pytest.mark.parametrize(
    ("step", "parameters", "named"),
    [
        (Dense, {"weight": BIAS}, r"weight\n.*found shape \[5\]"),
        (Dense, {"weight": WEIGHT, "residual": "projection"}, r"\[5, 7\], found absent"),
        (Dense, {"weight": WEIGHT, "residual_weight": WEIGHT}, r"absent, found \[5, 7\]"),
        (
            Dense,
            {"weight": WEIGHT, "residual": "projection", "residual_weight": WEIGHT[:4]},
            r"\[5, 7\], found \[4, 7\]",
        ),
        (Dropout, {"rate": 0.2}, "rate"),
        (KeepLargest, {"count": 0}, "count"),
        (KeepLargest, {"count": "2"}, "count"),
        (LayerNorm, {"eps": 0.0}, "eps"),
        (LayerNorm, {"weight": np.float32([[1, 2]])}, r"one row of .*\[1, 2\]"),
        (LeaveOut, {"ids": ()}, "ids"),
        (LeaveOut, {"ids": (-1,)}, "ids"),
        (LeaveOut, {"ids": (2**63,)}, "ids"),
        (LeaveOutEnds, {"first": -1}, "first"),
        (LeaveOutEnds, {"last": 1.5}, "last"),
        (Pca, {"mean": ROW, "components": WEIGHT.T}, "takes 5 elements and the mean has 7"),
        (Pool, {"mode": ["mean", "median"]}, "unknown mode 'median'; choose from: 'cls'"),
        (Pool, {"mode": [["mean"]]}, r"unknown mode \['mean'\]"),
        (Quantize, {"precision": "int4"}, "'int8', 'uint8', 'binary' or 'ubinary'"),
        (Quantize, {"precision": "int8", "ranges": RANGES * INFINITE}, "finite"),
        (
            Quantize,
            {"precision": "int8", "function": "tanh", "ranges": RANGES},
            "and without ranges",
        ),
        (
            Quantize,
            {"precision": "int8", "ranges": np.float32([[0, 2, 3], [1, 1, 1]])},
            "dimension 1 begins at 2 and ends at 1",
        ),
        (RemoveComponents, {"mean": ROW, "components": ORTHONORMAL * 1.01}, "not of length 1"),
        (RemoveComponents, {"mean": ROW, "components": ORTHONORMAL[[0, 0]]}, "right angles"),
        (RemoveComponents, {"mean": ROW, "components": ORTHONORMAL.T}, "takes 2 elements"),
        (Scale, {"factor": float("nan")}, "factor"),
        (Scale, {"factor": "2"}, "factor"),
        (Select, {"places": ()}, "places"),
        (Select, {"places": (-1,)}, "places"),
        (Select, {"places": ("0",)}, "places"),
        (Spans, {"most": 0}, "most"),
        (Spans, {"most": 513}, "most"),
        (Splade, {"pooling": "mean"}, "'max' or 'sum'"),
        (Splade, {"activation": "gelu"}, "'relu' or 'log1p_relu'"),
        (Subtract, {"vector": ROW[None]}, r"one row of .* shape \[1, 7\]"),
        (Subtract, {"vector": np.float32([1, np.nan])}, r"nan at \[1\] \(1 of 2 "),
        (Subtract, {"vector": np.float32([-np.inf])}, r"-inf at \[0\] \(1 of 1 "),
        (Truncate, {"dimension": 0}, "dimension"),
        (Truncate, {"dimension": 4, "renormalize": "no"}, "renormalize"),
        (WeightedLayerPooling, {"weights": np.float32([0.5, -0.5])}, "weights"),
        (WeightedLayerPooling, {"weights": ROW, "layer_start": -1}, "layer_start"),
        (Whiten, {"mean": ROW, "matrix": ROW}, r"matrix\n.*found shape \[7\]"),
        (Whiten, {"mean": WEIGHT, "matrix": WEIGHT}, r"mean\n.*expected one row"),
    ],
)
def test_parameters(step: type[Step], parameters: dict[str, object], named: str) -> None:
    """The key, and what it holds or may hold, are named."""
    with pytest.raises(ValidationError, match=named):
        step(**parameters)


def test_the_first_number_of_a_matrix_that_is_not_finite() -> None:
    """It is named with its place."""
    # The arrays' own types need pydantic's leave, which a step gives.
    adapter = TypeAdapter(Matrix, config={"arbitrary_types_allowed": True})
    with pytest.raises(ValidationError, match=r"found inf at \[1, 0\] \(2 of 4 are not finite"):
        adapter.validate_python(np.float32([[1, 2], [np.inf, np.nan]]))


MEAN = Pool(mode="mean")
HYBRID = Hybrid(
    dense=(Pool(mode="cls"),),
    weight=Dense(weight=WEIGHT[:1]),
    unweighted=(0, 2, 3),
    vector=(Dense(weight=WEIGHT), Normalize()),
)


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        ([MEAN, LeaveOut(ids=(1,))], "leave_out takes token embeddings"),
        ([MEAN, LeaveOutEnds(first=1)], "leave_out_ends takes token embeddings"),
        ([MEAN, Splade()], "splade takes token embeddings"),
        ([MEAN, Unpad()], "unpad takes token embeddings .*; put it before the step that pools"),
        ([MEAN, HYBRID], "hybrid takes token embeddings"),
        ([Spans()], "reads the scores of a beginning and of an end, 2 elements"),
        ([Select(places=(0, 1)), Spans()], "rows are single texts; expected questions"),
        ([Dense(weight=WEIGHT[:, :6])], "weight takes 6 elements and the embedding has 7"),
        ([LayerNorm(weight=ROW[:6])], "weight takes 6 elements and the embedding has 7"),
        ([LayerNorm(bias=ROW[:6])], "bias takes 6 elements and the embedding has 7"),
        ([Pca(mean=BIAS, components=WEIGHT.T)], "mean takes 5 elements and the embedding has 7"),
        ([Whiten(mean=BIAS, matrix=WEIGHT)], "mean takes 5 elements and the embedding has 7"),
        (
            [RemoveComponents(mean=BIAS, components=np.eye(5, dtype=np.float32))],
            "mean takes 5 elements and the embedding has 7",
        ),
        (
            [MEAN, Quantize(precision="int8", ranges=RANGES)],
            "a row of the ranges takes 16 elements .* has 7",
        ),
        ([Quantize(precision="ubinary")], "put it after a step that pools"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_embeddings(run_steps, steps: list[Step], named: str) -> None:
    """Pooled vectors, tokens, and other sizes are named with the step."""
    x, ids = RANDOM.normal(size=(2, 3, 7)), np.ones((2, 3), np.int64)
    with pytest.raises(InputError, match=named):
        run_steps(steps, State(x, ids, ids))
