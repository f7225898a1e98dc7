"""Changes of modules."""

from __future__ import annotations

from collections import Counter

from polybake.study.diff.module_change import ModuleChange, merged
from polybake.study.diff.weights import WeightChange


def test_layers_of_one_kind_are_told_together() -> None:
    """The numbers of equal layers are added."""
    a, b, c = (WeightChange(name, "changed") for name in "abc")
    layers = [
        ModuleChange("layer.0", 4, [a], nodes_added=Counter(Add=1)),
        ModuleChange("steps.1", 1, [c]),
        ModuleChange("layer.1", 3, [b], nodes_added=Counter(Add=2)),
    ]
    assert merged(layers) == [
        ModuleChange("layer.0-1", 7, [a, b], nodes_added=Counter(Add=3)),
        layers[1],
    ]
