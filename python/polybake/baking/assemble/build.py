"""Place an encoder in a graph and fold the steps over it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from onnxscript import ir
from tokenizers import Tokenizer

from polybake.baking.assemble.expose import expose_values
from polybake.baking.assemble.fold import Folded, fold
from polybake.baking.assemble.prompts import Prompts
from polybake.baking.graph.check import check_graph
from polybake.baking.graph.pooled_rows import compute_pooled_rows
from polybake.baking.graph.slow_fusions import avoid_slow_fusions, rounds
from polybake.baking.sources.source import Encoder, EncoderGraph, Source
from polybake.baking.steps import Step
from polybake.baking.tasks import Task
from polybake.baking.tokenizer.known_classes import gives_types
from polybake.baking.tokenizer.pairs import for_pairs
from polybake.base.modelfile.manifest import SOUGHT, Contract, Feed, Input
from polybake.config import ModelTable
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer


@dataclass(frozen=True)
class Built:
    """The interface of a graph, and whether it quantizes on its own what it computes.

    Attributes:
        tokenizer: The tokenizer that the file carries.
        whole: The same tokenizer with its post-processor, which joins pairs on its own.
        dropped_tokens: Added tokens of the source that the encoder's table has no row for.
    """

    contract: Contract
    tokenizer: BakedTokenizer
    whole: BakedTokenizer
    opset: int
    rounds: bool
    dropped_tokens: tuple[str, ...]


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
    *,
    functions: bool = False,
) -> tuple[EncoderGraph, Folded]:
    """Place an encoder in a graph, and fold the steps over it."""
    graph = seek(encoder.place()) if task.seeks else encoder.place()
    folded = fold(
        steps,
        graph,
        prompts.inputs,
        output=task.output,
        by_token=task.by_token,
        functions=functions,
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
    graph, folded = place(encoder, steps, prompts, task, functions=settings.functions)
    expose_values(settings.expose, graph, steps, folded.results)
    tokenizer, vocab_size = fitted(source.tokenizer, table_rows(graph.state.input_ids))
    dropped = added_tokens(source.tokenizer) - added_tokens(tokenizer)
    told = task.settings(source, folded.output.dimension)
    if "words" in told:
        tokenizer = tokenizer.cut_right()  # a word is known by its first tokens
    whole, pair = tokenizer, None
    if task.cut is not None:
        prompt = source.pair_prompt
        tokenizer, pair = (
            for_pairs(whole, task.cut, typed=graph.typed is not False, sought=task.seeks)
            if prompt is None
            else prompt.for_pairs(whole)
        )
    compute_pooled_rows(graph.model)
    avoid_slow_fusions(graph.model)
    check_graph(graph.model, source.folder.path)
    contract = Contract(
        task=task.name,
        settings=told,
        pair=pair,
        inputs=(*graph.inputs, *prompts.inputs),
        output=folded.output,
        further_outputs=folded.further,
        vocab_size=vocab_size,
        max_length=tokenizer.max_length,
        pad_id=tokenizer.pad_id,
        pad_side=graph.pad_side or tokenizer.pad_side,
        prompts=dict(prompts.texts),
        default_prompt=prompts.default,
    )
    opset = graph.model.opset_imports[""]
    return graph.model, Built(
        contract, tokenizer, whole, opset, rounds(graph.model), tuple(sorted(dropped))
    )


def _check_outputs(task: Task, folded: Folded) -> None:
    found = tuple(one.name for one in folded.further)
    if found != task.further_outputs:
        names = ", ".join((folded.output.name, *found))
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
    names = {one.feed: one.name for one in graph.inputs}
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
        for place, value in enumerate(node.inputs):
            if value is types:
                node.replace_input_with(place, own)
    added = list(nodes)[before:]
    nodes.remove(added)
    nodes.insert_before(nodes[0], added)
    return replace(graph, state=replace(graph.state, sought=sought))


#: Tokens that a message names.
_SHOWN = 3


def table_rows(input_ids: ir.Value) -> int | None:
    """Return the rows of the smallest table that token ids look up; None without a table."""
    return min(_tables(input_ids), default=None)


def added_tokens(tokenizer: BakedTokenizer) -> set[str]:
    """Return the added tokens: any text that spells such a token has it as one token."""
    return {one["content"] for one in json.loads(tokenizer.json)["added_tokens"]}


def fitted(tokenizer: BakedTokenizer, rows: int | None) -> tuple[BakedTokenizer, int]:
    """Return the tokenizer without added tokens beyond the table, and the bound of its ids.

    Some checkpoints name tokens without a row in their table, such as the image token of Gemma 3;
    the library fails on text that spells such a token. Here that text is tokenised like any other.
    """
    data = json.loads(tokenizer.json)
    found = Tokenizer.from_str(tokenizer.json).get_vocab(with_added_tokens=True)
    if rows is None:
        return tokenizer, max(found.values(), default=0) + 1
    beyond = {token for token, token_id in found.items() if token_id >= rows}
    if not beyond:
        return tokenizer, rows
    data["added_tokens"] = [one for one in data["added_tokens"] if one["id"] < rows]
    try:
        kept = Tokenizer.from_str(json.dumps(data)).get_vocab(with_added_tokens=True)
    except Exception:  # tokenizers raises bare Exception: a template needs what was dropped
        kept = found
    left = sorted(beyond & kept.keys(), key=found.__getitem__)
    if left:
        shown = ", ".join(f"{token!r} ({found[token]})" for token in left[:_SHOWN])
        raise InputError(
            f"tokenizer.json gives {len(left)} ids for which the model's table of {rows} rows has "
            f"none, such as {shown}; use the tokenizer that the model was trained with"
        )
    return tokenizer.with_parts(added_tokens=data["added_tokens"]), rows


def _tables(ids: ir.Value) -> Iterator[int]:
    """The rows of every table that ``ids`` choose rows of, in branches too."""
    for node, place in ids.uses():
        if node.op_type in ("Cast", "Identity"):
            yield from _tables(node.outputs[0])
        elif node.op_type == "Gather" and place == 1 and not node.attributes.get_int("axis", 0):
            table = node.inputs[0]
            if table is not None and table.shape is not None and isinstance(table.shape[0], int):
                yield table.shape[0]
