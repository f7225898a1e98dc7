"""A graph's picture as an HTML page, with every node below it, folded by namespace."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from onnxscript import ir

from polybake.baking.graph.namespace import Namespace, namespace
from polybake.base.files.printable import escaped
from polybake.study.inspect.boxes import shape_text
from polybake.study.inspect.graph import dtype_text

_STYLE = """
:root { color-scheme: light dark }
body { background: #f8fafc; color: #0f172a; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif }
svg.polybake { display: block; height: auto; margin: 0 auto; max-width: 100% }
details { border-left: 2px solid #cbd5e1; margin: .2rem 0; padding-left: .8rem }
summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere }
summary small, th { color: #475569; font-weight: 400 }
table { border-collapse: collapse; font-size: 13px; margin: .3rem 0 .6rem }
td, th { overflow-wrap: anywhere; padding: .1rem .9rem .1rem 0; text-align: left;
  vertical-align: top }
td:nth-child(2) { font-family: ui-monospace, monospace }
@media (prefers-color-scheme: dark) { body { background: #0f172a; color: #f1f5f9 }
  details { border-color: #334155 } summary small, th { color: #b6c2d2 } }
"""


def page(model: ir.Model, drawing: str, name: str, facts: Mapping[str, str]) -> str:
    """Write the page as one self-contained file.

    Args:
        model: A model from `read_graph`.
        drawing: The model's picture from `polybake.study.inspect.svg.svg`.
        name: The model's name.
        facts: Other facts about the model, by heading.
    """
    graph = model.graph
    said = "".join(f"<tr><th>{escaped(key)}<td>{escaped(value)}" for key, value in facts.items())
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><meta charset="utf-8"><title>{escaped(name)}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}</style>",
            f"<h1>{escaped(name)}</h1>",
            f"<table>{said}</table>",
            drawing,
            "<h2>Values</h2>",
            _values("inputs", graph.inputs),
            _modules([(namespace(node) or ("without a namespace",), node) for node in graph]),
            *(
                _details(f"function {function.name}", len(function), _nodes(function))
                for function in model.functions.values()
            ),
            _values("outputs", graph.outputs),
            _values("weights", graph.initializers.values()),
            "</html>",
            "",
        ]
    )


def _modules(nodes: Iterable[tuple[Namespace, ir.Node]]) -> str:
    """Write the nodes of a module, and the modules within it."""
    own = [node for path, node in nodes if not path]
    within: defaultdict[str, list[tuple[Namespace, ir.Node]]] = defaultdict(list)
    for path, node in nodes:
        if path:
            within[path[0]].append((path[1:], node))
    return (_nodes(own) if own else "") + "\n".join(
        _details(name, len(some), _modules(some)) for name, some in within.items()
    )


def _nodes(nodes: Iterable[ir.Node]) -> str:
    return _table((node.op_type, value) for node in nodes for value in node.outputs)


def _values(title: str, values: Iterable[ir.Value]) -> str:
    rows = [("", value) for value in values]
    return _details(title, len(rows), _table(rows))


def _table(rows: Iterable[tuple[str, ir.Value]]) -> str:
    lines = (
        f"<tr><td>{escaped(operator)}<td>{escaped(value.name or '')}"
        f"<td>{escaped(dtype_text(value) or '?')}<td>{escaped(shape_text(value))}"
        for operator, value in rows
    )
    return f"<table><tr><th>operator<th>value<th>dtype<th>shape{''.join(lines)}</table>"


def _details(title: str, count: int, body: str) -> str:
    return f"<details><summary>{escaped(title)} <small>{count}</small></summary>{body}</details>"
