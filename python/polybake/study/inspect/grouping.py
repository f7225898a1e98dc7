"""Put the nodes of a graph together by namespace, so that the groups form a graph, too."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from onnxscript import ir

from polybake.study.inspect.graph import Namespace, namespace, shape_sizes

#: Up to this many nodes a graph without any namespace is shown node by node.
_FEW_NODES = 24

#: A module of a list: ``layer.0``, or ``0`` within ``layers``.
_NUMBERED = re.compile(r"(?:(.*)\.)?(\d+)")


@dataclass(eq=False)
class Group:
    """Nodes of one namespace, or of equal ones that follow each other, such as an encoder's layers.

    Attributes:
        nodes: In the graph's order.
        after: The groups that read what it gives.
    """

    nodes: list[ir.Node] = field(default_factory=list)
    after: set[Group] = field(default_factory=set)

    @property
    def path(self) -> Namespace:
        """The namespace up to its first numbered part, without the number where there are more."""
        first = module(self.nodes[0])
        return first if self.times == 1 else _numberless(first)

    @property
    def times(self) -> int:
        """How many equal namespaces these are."""
        return len(set(map(module, self.nodes)))

    def reaches(self, other: Group) -> bool:
        """Whether the other one depends on this one."""
        stack, seen = [self], {self}
        while stack:
            new = stack.pop().after - seen
            seen |= new
            stack += new
        return other in seen


def group_nodes(graph: ir.Graph) -> dict[ir.Node, Group]:
    """The group of each node; no group depends on itself, so that a picture has arrows down only.

    Namespaces that differ in a number are one where their nodes are equal.
    """
    nodes = list(graph)
    if len(nodes) <= _FEW_NODES and not any(map(namespace, nodes)):
        return _grouped(nodes, lambda node: node)
    modules: defaultdict[Namespace, list[ir.Node]] = defaultdict(list)
    for node in nodes:
        modules[module(node)].append(node)
    kinds = {path: _kind(path, members) for path, members in modules.items()}
    return _grouped(nodes, lambda node: kinds[module(node)])


def read_values(node: ir.Node) -> set[ir.Value]:
    """The values of the node's graph that it reads, or that its subgraphs do."""
    within = ir.traversal.RecursiveGraphIterator(ir.GraphView([], [], nodes=[node]))
    read = (value for one in within for value in one.inputs if value is not None)
    return {value for value in read if value.graph is node.graph}


def module(node: ir.Node) -> Namespace:
    """The first numbered module of a node, with those around it; else the outermost one."""
    path = namespace(node)
    # A number at the outermost is no layer: torch.nn.Sequential calls all of its modules so.
    numbered = (
        place
        for place, part in enumerate(path)
        if _NUMBERED.fullmatch(part) and (place or not part.isdigit())
    )
    return path[: next(numbered, 0) + 1]


def step_index(path: Namespace) -> int | None:
    """Which step of a baked model a namespace is; None where it is none."""
    found = re.fullmatch(r"steps\.(\d+)", path[0]) if len(path) == 1 else None
    return int(found[1]) if found else None


def _grouped(nodes: Sequence[ir.Node], key: Callable[[ir.Node], Hashable]) -> dict[ir.Node, Group]:
    """Give each node to the last group of its key, or to a new one where that would be a loop."""
    groups: dict[ir.Node, Group] = {}
    latest: dict[Hashable, Group] = {}
    for node in nodes:
        origins = {value.producer() for value in read_values(node)}
        before = {groups[one] for one in origins if one is not None}
        group = latest.get(key(node))
        if group is None or any(group.reaches(one) for one in before - {group}):
            group = latest[key(node)] = Group()
        group.nodes.append(node)
        groups[node] = group
        for one in before - {group}:
            one.after.add(group)
    return groups


def _kind(path: Namespace, nodes: Sequence[ir.Node]) -> Hashable:
    """What is equal for two layers of one kind: operators and shapes of the weights."""
    if step_index(path) is not None or path == _numberless(path):
        return path
    operators = []
    for node in nodes:
        weights = (value for value in node.inputs if value is not None and value.is_initializer())
        operators.append((node.domain, node.op_type, *map(str, map(shape_sizes, weights))))
    return _numberless(path), tuple(operators)


def _numberless(path: Namespace) -> Namespace:
    number = _NUMBERED.fullmatch(path[-1]) if path else None
    return (*path[:-1], *filter(None, [number[1]])) or path if number else path
