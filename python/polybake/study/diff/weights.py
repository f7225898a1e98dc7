"""Compare the weights of two graphs, tensor by tensor."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from polybake.baking.graph.weights import StoredWeights

#: The prefixes that ``precision = "int8"`` and ``"int4"`` give a weight's name. Source:
#: quantization/nodes.py.
INTEGERS = ("int8.", "int4.")

#: The kinds of change, in the order in which they are reported.
Kind = Literal["changed", "retyped", "reshaped", "renamed", "gone", "new"]


@dataclass(frozen=True)
class WeightChange:
    """The difference of one weight.

    Attributes:
        name: Its name in the first file; for a new weight, in the second file.
        kind: ``retyped`` is stored in another dtype, ``renamed`` is equal but for its name.
        before, after: Dtype and shape, such as ``float32 [384, 1536]``; None if the file lacks it.
        now: Its name in the second file, if that is different.
        largest: The largest difference of an element; None if elements are not compared.
        cosine: The cosine of both as vectors; None if not compared, or if either is all 0.
    """

    name: str
    kind: Kind
    before: str | None = None
    after: str | None = None
    now: str | None = None
    largest: float | None = None
    cosine: float | None = None


def compare_weights(
    old: StoredWeights, new: StoredWeights, names: Sequence[str], others: Sequence[str]
) -> Iterator[WeightChange]:
    """Yield each weight that differs; a weight missing by name is searched for by content.

    Floats of different dtypes are compared as float64. Integers that stand for rounded weights
    have scales, so they are not compared with the weights that they were made of.
    """
    has = set(others)
    pairs = {
        name: now
        for name in names
        for now in (name, *(f"{prefix}{name}" for prefix in INTEGERS))
        if now in has
    }
    paired = set(pairs.values())
    for name, now in pairs.items():
        if old.message(name) != new.message(now):
            yield from _changes(name, now, old.array(name), new.array(now))
    gone = [name for name in names if name not in pairs]
    added = [name for name in others if name not in paired]
    places = {_content(new.array(name)): name for name in reversed(added)} if gone else {}
    matches = set()
    for name in gone:
        array = old.array(name)
        same = places.pop(_content(array), None)
        if same is None:
            yield WeightChange(name, "gone", _shape(array))
        else:
            matches.add(same)
            yield WeightChange(name, "renamed", _shape(array), _shape(array), same, 0.0)
    for name in added:
        if name not in matches:
            yield WeightChange(name, "new", None, _shape(new.array(name)))


def _changes(
    name: str, now: str, before: NDArray[Any], after: NDArray[Any]
) -> Iterator[WeightChange]:
    shapes = (_shape(before), _shape(after))
    other = now if now != name else None
    retyped = before.dtype != after.dtype
    reshaped = before.shape != after.shape
    if reshaped or now != name or object in (before.dtype, after.dtype):
        kind: Kind = "retyped" if retyped else "reshaped" if reshaped else "changed"
        yield WeightChange(name, kind, *shapes, other)
        return
    old, new = before.astype(np.float64).ravel(), after.astype(np.float64).ravel()
    largest = float(np.max(np.abs(new - old), initial=0.0))
    if not retyped and largest == 0:
        return  # such as the same numbers in another field of the message
    norms = float(np.linalg.norm(old) * np.linalg.norm(new))
    cosine = float(old @ new) / norms if norms > 0 else None
    yield WeightChange(name, "retyped" if retyped else "changed", *shapes, None, largest, cosine)


def _content(array: NDArray[Any]) -> str:
    return f"{_shape(array)} {hashlib.sha256(array.tobytes()).hexdigest()}"


def _shape(array: NDArray[Any]) -> str:
    return f"{array.dtype} {list(array.shape)}"
