"""The differences of a module of a graph: of its weights and of its operators."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from polybake.study.diff.weights import WeightChange

#: The number of a module in a list of modules.
_NUMBER = re.compile(r"\d+$")


@dataclass
class ModuleChange:
    """The differences of one module.

    Attributes:
        module: The module's name, such as ``encoder.layer.0``; empty for the graph itself.
        equal: How many weights are equal under the same name.
        weights: The weights that differ.
        nodes_removed, nodes_added: How many nodes of each operator are gone or new.
    """

    module: str
    equal: int = 0
    weights: list[WeightChange] = field(default_factory=list)
    nodes_removed: Counter[str] = field(default_factory=Counter)
    nodes_added: Counter[str] = field(default_factory=Counter)

    @property
    def differs(self) -> bool:
        """Whether the module differs at all."""
        return bool(self.weights or self.nodes_removed or self.nodes_added)

    def of_kind(self, kind: str) -> list[WeightChange]:
        """Return the weights with this kind of change."""
        return [weight for weight in self.weights if weight.kind == kind]


def merged(changes: Iterable[ModuleChange]) -> list[ModuleChange]:
    """Merge the changes of a list of modules into one change: ``encoder.layer.0-5``."""
    groups: defaultdict[str, list[ModuleChange]] = defaultdict(list)
    for change in changes:
        groups[_NUMBER.sub("", change.module)].append(change)
    return [_together(group) for group in groups.values()]


def _together(group: list[ModuleChange]) -> ModuleChange:
    first, last = group[0].module, _NUMBER.search(group[-1].module)
    return ModuleChange(
        f"{first}-{last[0]}" if last and len(group) > 1 else first,
        sum(change.equal for change in group),
        [weight for change in group for weight in change.weights],
        sum((change.nodes_removed for change in group), Counter()),
        sum((change.nodes_added for change in group), Counter()),
    )
