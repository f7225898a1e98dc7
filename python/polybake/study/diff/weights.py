"""The weights of two graphs, tensor by tensor."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from polybake.baking.graph.weights import StoredWeights

#: What ``precision = "int8"`` puts in front of a weight's name. Source: quantization/int8.py.
INT8 = "int8."

#: In the order in which they are told.
Kind = Literal["changed", "retyped", "reshaped", "renamed", "gone", "new"]


@dataclass(frozen=True)
class WeightChange:
    """What differs in one weight.

    Attributes:
        name: In the first file; of a new one, in the second.
        kind: ``retyped`` is stored in another dtype, ``renamed`` is equal but for its name.
        before, after: Dtype and shape, such as ``float32 [384, 1536]``; None where it is not.
        now: Its name in the second file, where that is another one.
        largest: By how much an element differs at most; None where no elements are compared.
        cosine: Of the two as vectors; None where not compared, or one of them is all 0.
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
    """Each weight that differs; one that is gone under its name is looked for by its content.

    Floating-point numbers of other dtypes are compared as float64. Integers that stand for rounded
    weights have scales, so those are not compared with what they were made of.

    Args:
        old, new: Of the two files.
        names: Of the first one's weights.
        others: Of the second one's.
    """
    has = set(others)
    pairs = {name: now for name in names for now in (name, f"{INT8}{name}") if now in has}
    paired = set(pairs.values())
    for name, now in pairs.items():
        if old.message(name) != new.message(now):
            yield from _changes(name, now, old.array(name), new.array(now))
    gone = [name for name in names if name not in pairs]
    added = [name for name in others if name not in paired]
    places = {_content(new.array(name)): name for name in reversed(added)} if gone else {}
    found = set()
    for name in gone:
        array = old.array(name)
        same = places.pop(_content(array), None)
        if same is None:
            yield WeightChange(name, "gone", _shape(array))
        else:
            found.add(same)
            yield WeightChange(name, "renamed", _shape(array), _shape(array), same, 0.0)
    for name in added:
        if name not in found:
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
    one, two = before.astype(np.float64).ravel(), after.astype(np.float64).ravel()
    largest = float(np.max(np.abs(two - one), initial=0.0))
    if not retyped and largest == 0:
        return  # written in another field of the same message, say
    norms = float(np.linalg.norm(one) * np.linalg.norm(two))
    cosine = float(one @ two) / norms if norms > 0 else None
    yield WeightChange(name, "retyped" if retyped else "changed", *shapes, None, largest, cosine)


def _content(array: NDArray[Any]) -> str:
    return f"{_shape(array)} {hashlib.sha256(array.tobytes()).hexdigest()}"


def _shape(array: NDArray[Any]) -> str:
    return f"{array.dtype} {list(array.shape)}"
