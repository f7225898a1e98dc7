"""Group the nodes of a graph by namespace, so that the groups form a graph without loops."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from onnxscript import ir

from polybake.baking.graph.namespace import Namespace, namespace
from polybake.study.inspect.graph import shape_sizes

#: A graph of up to this many nodes without any namespace is shown node by node.
_FEW_NODES = 24

#: The name of a module in a list: ``layer.0``, or ``0`` within ``layers``.
_NUMBERED = re.compile(r"(?:(.*)\.)?(\d+)")


@dataclass(eq=False)
class Group:
    """Nodes of one namespace, or of equal consecutive namespaces such as an encoder's layers.

    Attributes:
        nodes: The nodes, in the graph's order.
        after: The groups that read this group's outputs.
    """

    nodes: list[ir.Node] = field(default_factory=list)
    after: set[Group] = field(default_factory=set)

    @property
    def path(self) -> Namespace:
        """The namespace up to its first numbered part; several namespaces omit the number."""
        first = module(self.nodes[0])
        return first if self.times == 1 else _numberless(first)

    @property
    def times(self) -> int:
        """How many equal namespaces the group has."""
        return len(set(map(module, self.nodes)))

    def reaches(self, other: Group) -> bool:
        """Whether the other group depends on this group."""
        stack, seen = [self], {self}
        while stack:
            new = stack.pop().after - seen
            seen |= new
            stack += new
        return other in seen


def group_nodes(graph: ir.Graph) -> dict[ir.Node, Group]:
    """Return the group of each node; groups form no loop, so all arrows of a picture point down.

    Namespaces that differ only in a number share a group if their nodes are equal.
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
    """Return the values of the node's graph that the node or its subgraphs read."""
    within = ir.traversal.RecursiveGraphIterator(ir.GraphView([], [], nodes=[node]))
    read = (value for one in within for value in one.inputs if value is not None)
    return {value for value in read if value.graph is node.graph}


def module(node: ir.Node) -> Namespace:
    """Return a node's path down to its first numbered module; else its outermost module."""
    path = namespace(node)
    # A numbered outermost module is no layer: torch.nn.Sequential numbers all of its modules.
    numbered = (
        place
        for place, part in enumerate(path)
        if _NUMBERED.fullmatch(part) and (place or not part.isdigit())
    )
    return path[: next(numbered, 0) + 1]


def step_index(path: Namespace) -> int | None:
    """Return which step of a baked model a namespace is; None if it is no step."""
    found = re.fullmatch(r"steps\.(\d+)", path[0]) if len(path) == 1 else None
    return int(found[1]) if found else None


def _grouped(nodes: Sequence[ir.Node], key: Callable[[ir.Node], Hashable]) -> dict[ir.Node, Group]:
    """Put each node into the last group of its key; into a new group if that made a loop."""
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
    """Return a key that is equal for layers with equal operators and shapes of weights."""
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
