"""Make the contract: what a client must know to feed a graph, and its tokenizer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from onnxscript import ir
from tokenizers import Tokenizer

from polybake.baking.assemble.fold import Folded
from polybake.baking.assemble.prompts import Prompts
from polybake.baking.graph.slow_fusions import rounds
from polybake.baking.sources.source import EncoderGraph, Source
from polybake.baking.tasks import Task
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


def describe_graph(
    source: Source,
    graph: EncoderGraph,
    folded: Folded,
    prompts: Prompts,
    task: Task,
    rows: int | None,
) -> Built:
    """Describe a finished graph whose encoder looks token ids up in a table of ``rows``."""
    tokenizer, vocab_size = fitted(source.tokenizer, rows)
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
    return Built(contract, tokenizer, whole, opset, rounds(graph.model), tuple(sorted(dropped)))


#: Tokens that a message names.
_SHOWN = 3


def table_rows(input_ids: ir.Value) -> int | None:
    """Return the rows of the smallest table that token ids look up; None without a table."""
    return min(_tables(input_ids), default=None)


def added_tokens(tokenizer: BakedTokenizer) -> set[str]:
    """Return the added tokens: any text that spells such a token has it as one token."""
    return {token["content"] for token in json.loads(tokenizer.json)["added_tokens"]}


def fitted(tokenizer: BakedTokenizer, rows: int | None) -> tuple[BakedTokenizer, int]:
    """Return the tokenizer without added tokens beyond the table, and the bound of its ids.

    Some checkpoints name tokens without a row in their table, such as the image token of Gemma 3;
    the library fails on text that spells such a token. Here that text is tokenised like any other.
    """
    data = json.loads(tokenizer.json)
    vocabulary = Tokenizer.from_str(tokenizer.json).get_vocab(with_added_tokens=True)
    if rows is None:
        return tokenizer, max(vocabulary.values(), default=0) + 1
    beyond = {token for token, token_id in vocabulary.items() if token_id >= rows}
    if not beyond:
        return tokenizer, rows
    data["added_tokens"] = [token for token in data["added_tokens"] if token["id"] < rows]
    try:
        rest = Tokenizer.from_str(json.dumps(data)).get_vocab(with_added_tokens=True)
    except Exception:  # tokenizers raises bare Exception: a template needs what was dropped
        rest = vocabulary
    extra = sorted(beyond & rest.keys(), key=vocabulary.__getitem__)
    if extra:
        shown = ", ".join(f"{token!r} ({vocabulary[token]})" for token in extra[:_SHOWN])
        raise InputError(
            f"tokenizer.json gives {len(extra)} ids for which the model's table of {rows} rows has "
            f"none, such as {shown}; use the tokenizer that the model was trained with"
        )
    return tokenizer.with_parts(added_tokens=data["added_tokens"]), rows


def _tables(ids: ir.Value) -> Iterator[int]:
    """The rows of every table that ``ids`` choose rows of, in branches too."""
    for node, index in ids.uses():
        if node.op_type in ("Cast", "Identity"):
            yield from _tables(node.outputs[0])
        elif node.op_type == "Gather" and index == 1 and not node.attributes.get_int("axis", 0):
            table = node.inputs[0]
            if table is not None and table.shape is not None and isinstance(table.shape[0], int):
                yield table.shape[0]
