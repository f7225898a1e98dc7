"""A graph's picture as an HTML page, with every node below it, folded by namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape

from onnxscript import ir

from polybake.files.printable import printable
from polybake.inspection.boxes import shape_text
from polybake.inspection.graph import Namespace, dtype_text, namespace

_STYLE = """
:root { color-scheme: light dark; --ground: #f8fafc; --ink: #0f172a; --quiet: #475569;
  --rule: #cbd5e1 }
@media (prefers-color-scheme: dark) { :root { --ground: #0f172a; --ink: #f1f5f9;
  --quiet: #b6c2d2; --rule: #334155 } }
body { background: var(--ground); color: var(--ink); margin: 2rem auto; max-width: 72rem;
  padding: 0 1rem; font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif }
svg.polybake { display: block; height: auto; margin: 0 auto; max-width: 100% }
details { border-left: 2px solid var(--rule); margin: .2rem 0; padding-left: .8rem }
summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere }
summary small, th { color: var(--quiet); font-weight: 400 }
table { border-collapse: collapse; font-size: 13px; margin: .3rem 0 .6rem }
td, th { overflow-wrap: anywhere; padding: .1rem .9rem .1rem 0; text-align: left;
  vertical-align: top }
td:nth-child(2) { font-family: ui-monospace, monospace }
"""


@dataclass
class _Module:
    """The nodes of one namespace and the modules within it."""

    nodes: list[ir.Node] = field(default_factory=list)
    within: dict[str, _Module] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.nodes) + sum(module.count for module in self.within.values())


def page(model: ir.Model, drawing: str, name: str, facts: Mapping[str, str]) -> str:
    """Write the page: one file that asks for no other.

    Args:
        model: What `read_graph` gave.
        drawing: Its picture, as `polybake.inspection.svg.svg` gives it.
        name: Of the model.
        facts: What else is said of it, by heading.
    """
    graph = model.graph
    said = "".join(f"<tr><th>{_text(key)}<td>{_text(value)}" for key, value in facts.items())
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><meta charset="utf-8"><title>{_text(name)}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}</style>",
            f"<h1>{_text(name)}</h1>",
            f"<table>{said}</table>",
            drawing,
            "<h2>Values</h2>",
            _details("inputs", len(graph.inputs), _table(("", value) for value in graph.inputs)),
            *_modules("", _tree(graph)),
            *(
                _details(f"function {function.name}", len(function), _nodes(function))
                for function in model.functions.values()
            ),
            _details("outputs", len(graph.outputs), _table(("", value) for value in graph.outputs)),
            _details(
                "weights",
                len(graph.initializers),
                _table(("", value) for value in graph.initializers.values()),
            ),
            "</html>",
            "",
        ]
    )


def _tree(graph: ir.Graph) -> _Module:
    root = _Module()
    modules: dict[Namespace, _Module] = {(): root}
    for node in graph:
        path = namespace(node)
        for length in range(1, len(path) + 1):
            if path[:length] not in modules:
                above = modules[path[: length - 1]]
                modules[path[:length]] = above.within[path[length - 1]] = _Module()
        modules[path].nodes.append(node)
    return root


def _modules(title: str, module: _Module) -> Iterable[str]:
    inner = [line for name, one in module.within.items() for line in _modules(name, one)]
    body = _nodes(module.nodes) if module.nodes else ""
    if title:
        yield _details(title, module.count, "".join([body, *inner]))
    else:
        if body:
            yield _details("without a namespace", len(module.nodes), body)
        yield from inner


def _nodes(nodes: Iterable[ir.Node]) -> str:
    return _table((node.op_type, value) for node in nodes for value in node.outputs)


def _table(rows: Iterable[tuple[str, ir.Value]]) -> str:
    lines = (
        f"<tr><td>{_text(operator)}<td>{_text(value.name or '')}"
        f"<td>{_text(dtype_text(value) or '?')}<td>{_text(shape_text(value))}"
        for operator, value in rows
    )
    return f"<table><tr><th>operator<th>value<th>dtype<th>shape{''.join(lines)}</table>"


def _details(title: str, count: int, body: str) -> str:
    return f"<details><summary>{_text(title)} <small>{count}</small></summary>{body}</details>"


def _text(text: str) -> str:
    return escape(printable(text))
