"""What differs in a module of a graph, in its weights and in its operators."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from polybake.study.diff.weights import WeightChange

#: Which of a list's modules one is.
_NUMBER = re.compile(r"\d+$")


@dataclass
class ModuleChange:
    """What differs in one module.

    Attributes:
        module: Such as ``encoder.layer.0`` and ``steps.1``; empty for the graph's own.
        equal: How many weights are the same, under the same name.
        weights: Those that are not.
        nodes_removed, nodes_added: Operators by how many there are fewer or more.
    """

    module: str
    equal: int = 0
    weights: list[WeightChange] = field(default_factory=list)
    nodes_removed: Counter[str] = field(default_factory=Counter)
    nodes_added: Counter[str] = field(default_factory=Counter)

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return bool(self.weights or self.nodes_removed or self.nodes_added)

    def of_kind(self, kind: str) -> list[WeightChange]:
        """The weights that differ so."""
        return [one for one in self.weights if one.kind == kind]


def merged(changes: Iterable[ModuleChange]) -> list[ModuleChange]:
    """The same, those of a list of modules together: ``encoder.layer.0-5``."""
    groups: defaultdict[str, list[ModuleChange]] = defaultdict(list)
    for change in changes:
        groups[_NUMBER.sub("", change.module)].append(change)
    return [_together(group) for group in groups.values()]


def _together(group: list[ModuleChange]) -> ModuleChange:
    first, last = group[0].module, _NUMBER.search(group[-1].module)
    return ModuleChange(
        f"{first}-{last[0]}" if last and len(group) > 1 else first,
        sum(one.equal for one in group),
        [weight for one in group for weight in one.weights],
        sum((one.nodes_removed for one in group), Counter()),
        sum((one.nodes_added for one in group), Counter()),
    )
