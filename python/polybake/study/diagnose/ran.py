"""Keep the values that a model gave, for the next run on the same feed."""

from __future__ import annotations

from collections import OrderedDict

from polybake.study.diagnose.dissected import Changed, Dissected, NamedArrays

#: The bytes of values that are kept; the latest values are kept whatever their size.
_KEPT = 1 << 28


class Ran:
    """Runs a model's graphs, and keeps the latest values.

    Args:
        model: The model file.
    """

    def __init__(self, model: Dissected) -> None:
        self.model = model
        self._values: OrderedDict[object, NamedArrays] = OrderedDict()
        self._bytes = 0

    def values(self, feed: NamedArrays, graph: Changed | None, *, layers: bool) -> NamedArrays:
        """Return the values of `Dissected.values`."""
        arrays = tuple((name, one.shape, one.tobytes()) for name, one in sorted(feed.items()))
        key = (graph, layers, arrays)
        if key not in self._values:
            values = self.model.values(feed, graph, layers=layers)
            self._bytes += _size(values)
            while self._values and self._bytes > _KEPT:
                self._bytes -= _size(self._values.popitem(last=False)[1])
            self._values[key] = values
        self._values.move_to_end(key)
        return self._values[key]


def _size(values: NamedArrays) -> int:
    return sum(one.nbytes for one in values.values())
