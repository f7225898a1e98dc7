"""Put the nodes of a graph together by namespace, so that the groups form a graph, too."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from onnxscript import ir

from polybake.inspection.graph import Namespace, namespace, shape_sizes

#: Up to this many nodes a graph without any namespace is shown node by node.
_FEW_NODES = 24

#: A module of a list: ``layer.0``, or ``0`` within ``layers``.
_NUMBERED = re.compile(r"(?:(.*)\.)?(\d+)")


@dataclass(eq=False)
class Group:
    """Nodes of one namespace, or of equal namespaces that follow each other.

    Attributes:
        path: The namespace, up to its first numbered part, such as ``encoder/layer.0``.
        nodes: In the graph's order.
        times: How many equal namespaces these are, such as the layers of an encoder.
    """

    path: Namespace
    nodes: list[ir.Node] = field(default_factory=list)
    times: int = 1


class Groups:
    """Groups of which none depends on itself: a picture of them has arrows down only."""

    def __init__(self, nodes: Iterable[ir.Node], key: Callable[[ir.Node], Namespace]) -> None:
        """Give each node to the last group of its key, or to a new one where that would loop."""
        self.all: list[Group] = []
        self.of: dict[ir.Node, Group] = {}
        self._after: defaultdict[Group, set[Group]] = defaultdict(set)
        latest: dict[Namespace, Group] = {}
        for node in nodes:
            before = {self.of[one] for one in producers(node)}
            group = latest.get(key(node))
            if group is None or any(self._reaches(group, one) for one in before - {group}):
                group = latest[key(node)] = Group(key(node))
                self.all.append(group)
            group.nodes.append(node)
            self.of[node] = group
            for one in before - {group}:
                self._after[one].add(group)

    def join_repeated(self) -> None:
        """Make one of groups whose namespaces differ in a number and whose nodes are equal."""
        families: defaultdict[object, list[Group]] = defaultdict(list)
        for group in self.all:
            number = _NUMBERED.fullmatch(group.path[-1]) if group.path else None
            if number and step_index(group) is None:
                families[(*group.path[:-1], number[1]), _signature(group)].append(group)
        for first, *rest in families.values():
            if rest and not self._leave_and_return([first, *rest]):
                self._join(first, rest)

    def _join(self, first: Group, rest: list[Group]) -> None:
        name = _NUMBERED.fullmatch(first.path[-1])
        if name is not None:
            first.path = (*first.path[:-1], *filter(None, [name[1]]))
        first.times += len(rest)
        first.nodes += [node for group in rest for node in group.nodes]
        gone = set(rest)
        self.all = [group for group in self.all if group not in gone]
        self.of |= dict.fromkeys(first.nodes, first)
        for group in rest:
            self._after[first] |= self._after.pop(group, set())
        for group, after in self._after.items():
            if after & gone or group is first:
                self._after[group] = (after - gone | ({first} if after & gone else set())) - {group}

    def _leave_and_return(self, family: list[Group]) -> bool:
        outside = {after for one in family for after in self._after[one]} - set(family)
        return any(self._reaches(start, one) for start in outside for one in family)

    def _reaches(self, start: Group, end: Group) -> bool:
        stack, seen = [start], {start}
        while stack:
            group = stack.pop()
            if group is end:
                return True
            new = self._after[group] - seen
            seen |= new
            stack += new
        return False


def group_nodes(graph: ir.Graph) -> Groups:
    """Group the nodes of a graph by the beginning of their namespace."""
    nodes = list(graph)
    if len(nodes) <= _FEW_NODES and not any(map(namespace, nodes)):
        return Groups(nodes, lambda node: (str(nodes.index(node)),))
    groups = Groups(nodes, _beginning)
    groups.join_repeated()
    return groups


def producers(node: ir.Node) -> set[ir.Node]:
    """The nodes of the same graph that give what a node and its subgraphs read."""
    found = (value.producer() for value in read_values(node))
    return {one for one in found if one is not None}


def read_values(node: ir.Node) -> set[ir.Value]:
    """The values of the node's graph that it reads, or that its subgraphs do."""
    within = ir.traversal.RecursiveGraphIterator(ir.GraphView([], [], nodes=[node]))
    read = (value for one in within for value in one.inputs if value is not None)
    return {value for value in read if value.graph is node.graph}


def step_index(group: Group) -> int | None:
    """Which step of a baked model a group is; None where it is none."""
    found = re.fullmatch(r"steps\.(\d+)", group.path[0]) if len(group.path) == 1 else None
    return int(found[1]) if found else None


def operator_counts(nodes: Iterable[ir.Node]) -> Counter[str]:
    """How often each operator occurs."""
    return Counter(node.op_type for node in nodes)


def _beginning(node: ir.Node) -> Namespace:
    """The first numbered module, with those around it; else the outermost one."""
    path = namespace(node)
    numbered = (place for place, part in enumerate(path) if _NUMBERED.fullmatch(part))
    return path[: next(numbered, 0) + 1]


def _signature(group: Group) -> object:
    """What is equal for two layers of one kind: operators and shapes of the weights."""
    return tuple(
        (
            node.domain,
            node.op_type,
            tuple(
                str(shape_sizes(value))
                for value in node.inputs
                if value is not None and value.is_initializer()
            ),
        )
        for node in group.nodes
    )
