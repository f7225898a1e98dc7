"""Add intermediate values as outputs of the graph, to look at when vectors are not as expected."""

import difflib
from collections.abc import Mapping, Sequence

from onnx_ir.passes.common import ShapeInferencePass
from onnxscript import ir

from polybake.baking.sources.source import EncoderGraph
from polybake.baking.steps import Step
from polybake.errors import InputError

#: The name of the encoder's output if the encoder does not pool on its own.
_ENCODER_RESULT = "token_embeddings"

#: How many known names the message for an unknown name shows.
_SHOWN = 5


def expose_values(
    names: Sequence[str], graph: EncoderGraph, steps: Sequence[Step], results: Sequence[ir.Value]
) -> None:
    """Add each named value to the graph's outputs, under that name."""
    if not names:
        return
    known = _step_results(steps, results)
    x = graph.state.x
    if x.shape is not None and len(x.shape) == 3:
        known[_ENCODER_RESULT] = [x]
    inner = {value.name: [value] for node in graph.model.graph for value in node.outputs}
    values = {**inner, **known}
    inputs = {value.name for value in graph.model.graph.inputs}
    for name in names:
        if name in inputs:
            places = [f"steps.{index}" for index, step in enumerate(steps) if step.name == name]
            remedy = f"name the step by its place: {places[0]}" if places else "leave it out"
            raise InputError(
                f"expose: {name!r} is an input, which the client has already; {remedy}"
            )
        value = _found(name, values)
        if value.is_graph_output():
            raise InputError(f"expose: {name!r} is the output {value.name!r} already; leave it out")
        value.name = name
        graph.model.graph.outputs.append(value)
    if any(value.dtype is None for value in graph.model.graph.outputs):
        ShapeInferencePass()(graph.model)


def _step_results(
    steps: Sequence[Step], results: Sequence[ir.Value]
) -> dict[str | None, list[ir.Value]]:
    """Return the steps' results by place, and by name, which several steps may share."""
    known: dict[str | None, list[ir.Value]] = {}
    for index, (step, value) in enumerate(zip(steps, results, strict=True)):
        known[f"steps.{index}"] = [value]
        known.setdefault(step.name, []).append(value)
    return known


def _found(name: str, values: Mapping[str | None, Sequence[ir.Value]]) -> ir.Value:
    match values.get(name, ()):
        case [value]:
            return value
        case []:
            names = [str(known) for known in values]
            near = difflib.get_close_matches(name, names, _SHOWN, cutoff=0.4)
            raise InputError(
                f"expose: no value is called {name!r}; near are: {', '.join(near) or 'none'}; "
                "see all with: polybake inspect --shapes MODEL"
            )
        case several:
            places = [
                key
                for key, group in values.items()
                if key and key.startswith("steps.") and group[0] in several
            ]
            raise InputError(
                f"expose: {len(several)} steps are called {name!r}; "
                f"name one by its place: {', '.join(places)}"
            )
