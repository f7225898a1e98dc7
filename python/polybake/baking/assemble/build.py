"""Place an encoder in a graph and fold the steps over it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from onnxscript import ir

from polybake.baking.assemble.contract import Built, describe_graph, table_rows
from polybake.baking.assemble.expose import expose_values
from polybake.baking.assemble.fold import Folded, fold
from polybake.baking.assemble.prompts import Prompts
from polybake.baking.graph.check import check_graph
from polybake.baking.graph.pooled_rows import compute_pooled_rows
from polybake.baking.graph.slow_fusions import avoid_slow_fusions
from polybake.baking.sources.source import Encoder, EncoderGraph, Source
from polybake.baking.steps import Step
from polybake.baking.tasks import Task
from polybake.baking.tokenizer.known_classes import gives_types
from polybake.base.modelfile.manifest import SOUGHT, Feed, Input
from polybake.config import ModelTable
from polybake.errors import InputError


def encoder_for(source: Source, steps: Sequence[Step], task: Task) -> Encoder:
    """Return the source's encoder, with the output for these steps and the inputs for this task."""
    pools = any(step.pools for step in steps)
    encoder = source.encoder if pools or source.pooled is None else source.pooled
    if task.cut is None or source.pair_prompt is not None:
        return encoder
    return encoder.for_pairs(partial(gives_types, source.folder))


def place(
    encoder: Encoder,
    steps: Sequence[Step],
    prompts: Prompts,
    task: Task,
) -> tuple[EncoderGraph, Folded]:
    """Place an encoder in a graph, and fold the steps over it."""
    graph = seek(encoder.place()) if task.seeks else encoder.place()
    folded = fold(
        steps,
        graph,
        prompts.inputs,
        output=task.output,
        by_token=task.by_token,
    )
    _check_outputs(task, folded)
    return graph, folded


def build(
    source: Source,
    encoder: Encoder,
    steps: Sequence[Step],
    prompts: Prompts,
    task: Task,
    settings: ModelTable,
) -> tuple[ir.Model, Built]:
    """Make the graph of ``encoder`` with ``steps``, in float32; no weight is read yet."""
    graph, folded = place(encoder, steps, prompts, task)
    expose_values(settings.expose, graph, steps, folded.results)
    rows = table_rows(graph.state.input_ids)
    compute_pooled_rows(graph.model)
    avoid_slow_fusions(graph.model)
    check_graph(graph.model, source.folder.path)
    return graph.model, describe_graph(source, graph, folded, prompts, task, rows)


def _check_outputs(task: Task, folded: Folded) -> None:
    outputs = tuple(output.name for output in folded.further)
    if outputs != task.further_outputs:
        names = ", ".join((folded.output.name, *outputs))
        remedy = "leave its [[steps]] out" if task.further_outputs else 'say task = "hybrid"'
        raise InputError(
            f"steps: they end in {names}, and the task {task.name!r} has "
            f"{', '.join((task.output, *task.further_outputs))}; {remedy}"
        )


_FEED: Feed = "token_type_ids"


def seek(graph: EncoderGraph) -> EncoderGraph:
    """Return the graph with an input of types that also says where answers are sought.

    An encoder that reads types gets them without that; other graphs get a new input.
    """
    op = graph.builder.op
    names = {item.feed: item.name for item in graph.inputs}
    if _FEED not in names:
        types = graph.builder.input(_FEED, ir.DataType.INT64, ["batch", "sequence"])
        sought = op.Div(types, SOUGHT)
        inputs = (*graph.inputs, Input(name=_FEED, feed=_FEED))
        return replace(graph, inputs=inputs, state=replace(graph.state, sought=sought))
    nodes = graph.model.graph
    types = next(value for value in nodes.inputs if value.name == names[_FEED])
    users = [use.node for use in types.uses()]
    before = nodes.num_nodes()
    sought, own = op.Div(types, SOUGHT), op.Mod(types, SOUGHT)
    for node in users:
        for index, value in enumerate(node.inputs):
            if value is types:
                node.replace_input_with(index, own)
    added = list(nodes)[before:]
    nodes.remove(added)
    nodes.insert_before(nodes[0], added)
    return replace(graph, state=replace(graph.state, sought=sought))
