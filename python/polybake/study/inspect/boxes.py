"""The boxes and arrows of a graph's picture, as words: inputs, groups of nodes, outputs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from onnxscript import ir

from polybake.study.inspect.graph import dtype_text, shape_sizes
from polybake.study.inspect.grouping import Group, group_nodes, read_values, step_index

Kind = Literal["input", "encoder", "step", "output"]

#: A box names all operators of its group up to the first number, else the most frequent ones.
_FEW, _NAMED = 3, 2

#: A group of up to this many nodes without a namespace is titled by its operators.
_SHORT = 4


@dataclass(frozen=True)
class Box:
    """A box: its kind, its text, and how many equal groups it stands for."""

    kind: Kind
    title: str
    detail: str
    times: int = 1


@dataclass(frozen=True)
class Picture:
    """Boxes, arrows between them by index, and the shapes that leave each box."""

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]
    shapes: tuple[str, ...]


def picture_of(model: ir.Model, steps: Sequence[str]) -> Picture:
    """Fold a graph into boxes and arrows.

    Args:
        model: A model from `read_graph`.
        steps: The steps of a baked model, as in its manifest; empty for any other model.
    """
    graph = model.graph
    inputs = [value for value in graph.inputs if not value.is_initializer()]
    group_of = group_nodes(graph)
    groups = list(dict.fromkeys(group_of.values()))
    boxes = [
        *(Box("input", value.name or "", _dtype(value)) for value in inputs),
        *(_group_box(group, steps) for group in groups),
        *(Box("output", value.name or "", _dtype(value)) for value in graph.outputs),
    ]
    place = {one: at for at, one in enumerate((*inputs, *groups))}
    leaving: dict[int, dict[ir.Value, None]] = defaultdict(dict)
    arrows: dict[tuple[int, int], None] = {}

    def connect(value: ir.Value, target: int) -> None:
        node = value.producer()
        origin = place.get(value) if node is None else place[group_of[node]]
        if origin is not None and origin != target:  # a weight has no box
            leaving[origin][value] = None
            arrows[origin, target] = None

    for node, group in group_of.items():
        for value in sorted(read_values(node), key=lambda value: value.name or ""):
            connect(value, place[group])
    for at, value in enumerate(graph.outputs, start=len(place)):
        connect(value, at)
    shapes = tuple(_shapes(leaving[at]) for at in range(len(boxes)))
    return Picture(tuple(boxes), tuple(arrows), shapes)


def shape_text(value: ir.Value) -> str:
    """Return a value's shape as text, such as ``batch × sequence × 384``."""
    sizes = shape_sizes(value)
    if sizes is None:
        return "?"
    return " × ".join(map(str, sizes)) or "scalar"


def _group_box(group: Group, steps: Sequence[str]) -> Box:
    counts, index = Counter(node.op_type for node in group.nodes), step_index(group.path)
    each = len(group.nodes) // group.times
    shown = len(counts) if len(counts) <= _FEW else _NAMED
    named = [
        f"{name} × {count // group.times}" if count > group.times else name
        for name, count in counts.most_common(shown)
    ]
    more = f" + {len(counts) - shown} more" if len(counts) > shown else ""
    detail = f"{each} operators: {', '.join(named)}{more}" if each > 1 else ""
    if index is not None and index < len(steps):
        name, _, parameters = steps[index].rstrip(")").partition("(")
        return Box("step", name, parameters or detail)
    operators = [node.op_type for node in group.nodes]
    if not group.path:
        if len(operators) <= _SHORT:
            return Box("encoder", " → ".join(operators), "")
        return Box("encoder", "without a namespace", detail)
    kind: Kind = "encoder" if index is None else "step"
    return Box(kind, ".".join(group.path), detail or operators[0], group.times)


def _dtype(value: ir.Value) -> str:
    return dtype_text(value) or "?"


def _shapes(values: dict[ir.Value, None]) -> str:
    """Return the first of the shapes that leave a box, and how many others there are."""
    shapes = list(dict.fromkeys(map(shape_text, values)))
    return shapes[0] + (f" and {len(shapes) - 1} more" if len(shapes) > 1 else "") if shapes else ""
