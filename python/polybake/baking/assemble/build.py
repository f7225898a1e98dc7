"""Place an encoder in a graph and fold the steps over it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from onnxscript import ir

from polybake.baking.assemble.expose import expose_values
from polybake.baking.assemble.fold import Folded, fold
from polybake.baking.assemble.prompts import Prompts
from polybake.baking.assemble.seek import seek
from polybake.baking.assemble.vocabulary import added_tokens, fitted, table_rows
from polybake.baking.graph.check import check_graph
from polybake.baking.graph.pooled_rows import compute_pooled_rows
from polybake.baking.graph.slow_fusions import avoid_slow_fusions, rounds
from polybake.baking.sources.source import Encoder, EncoderGraph, Source
from polybake.baking.steps import Step
from polybake.baking.tasks import Task
from polybake.baking.tokenizer.known_classes import gives_types
from polybake.baking.tokenizer.pairs import for_pairs
from polybake.base.modelfile.manifest import Contract
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
    """Return the source's encoder, with the output for these steps and the inputs for this task.

    Raises:
        InputError: Nothing says whether the tokens of a pair have types.
    """
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
    """Place an encoder in a graph, and fold the steps over it.

    Raises:
        InputError: the encoder cannot be built, a step does not fit, or the steps give other
            outputs than the task has.
    """
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
    *,
    functions: bool = False,
    expose: Sequence[str] = (),
) -> tuple[ir.Model, Built]:
    """Make the graph of ``encoder`` with ``steps``, in float32; no weight is read yet.

    Raises:
        InputError: a step does not fit, the steps give other outputs than the task has, or an
            exposed name is unknown.
        CheckFailed: the graph is not valid ONNX.
    """
    graph, folded = place(encoder, steps, prompts, task, functions=functions)
    expose_values(expose, graph, steps, folded.results)
    tokenizer, vocab_size = fitted(source.tokenizer, table_rows(graph.state.input_ids))
    dropped = added_tokens(source.tokenizer) - added_tokens(tokenizer)
    settings = task.settings(source, folded.output.dimension)
    if "words" in settings:
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
        settings=settings,
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
