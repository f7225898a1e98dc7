"""The meaning of an ONNX encoder's inputs and outputs."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from onnxscript import ir

from polybake.baking.sources.source import HeadKind, Recipe
from polybake.base.modelfile.manifest import UNQUANTIZED, Feed
from polybake.errors import InputError

#: The only poolings that txtai knows; it takes any other for the mean.
_TXTAI_POOLINGS = [{"step": "pool", "mode": "mean"}, {"step": "pool", "mode": "cls"}]

_FEEDS: dict[str, Feed] = {
    "input_ids": "input_ids",
    "attention_mask": "attention_mask",
    "input_mask": "attention_mask",
    "token_type_ids": "token_type_ids",
    "segment_ids": "token_type_ids",
    "position_ids": "position_ids",
}

#: Exporters' names of the outputs, which are preferred among outputs of the same rank.
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_POOLED_OUTPUTS = ("sentence_embedding", "embeddings")


def input_feeds(graph: ir.Graph, path: Path) -> dict[str, Feed]:
    """Return what to feed to each input, by its name; inputs are recognised by name and type."""
    feeds: dict[str, Feed] = {}
    for value in graph.inputs:
        name = str(value.name)
        if name not in _FEEDS:
            raise InputError(
                f"{path}: unknown input {name!r}; known are: {', '.join(_FEEDS)}; "
                "export it with these alone"
            )
        if value.dtype not in (ir.DataType.INT64, ir.DataType.INT32) or _rank(value) != 2:
            raise InputError(
                f"{path}: input {name!r} is {value.dtype} {value.shape}, expected int64 "
                "[batch, sequence]; export it again"
            )
        if value.shape is not None and any(isinstance(size, int) for size in value.shape):
            raise InputError(
                f"{path}: input {name!r} has the fixed shape {value.shape}; "
                "export it with dynamic axes"
            )
        feeds[name] = _FEEDS[name]
    for feed in ("input_ids", "attention_mask"):
        if feed not in feeds.values():
            raise InputError(
                f"{path}: has no input {feed}, only {', '.join(feeds) or 'none'}; "
                "export it with input_ids and attention_mask"
            )
    return feeds


class EmbeddingOutputs(NamedTuple):
    """Names of the outputs that embeddings come from.

    Attributes:
        first: The output that steps begin with: ``[batch, sequence, hidden]``, or `pooled`
            without token embeddings.
        pooled: ``[batch, dimension]``; beside token embeddings only by its name, since BERT's
            ``pooler_output`` is no embedding of a sentence.
    """

    first: str
    pooled: str | None


def embedding_outputs(graph: ir.Graph, path: Path) -> EmbeddingOutputs:
    """Choose the outputs that steps can begin with: by shape, then by name, never by position."""
    if any(value.name == UNQUANTIZED for value in graph.outputs):
        raise InputError(
            f"{path}: is baked and quantized already; bake its source, with other steps"
        )
    floats = [
        value for value in graph.outputs if value.dtype == ir.DataType.FLOAT and not _is_head(value)
    ]
    tokens = [value for value in floats if _rank(value) == 3 and not _is_fixed(value, axis=1)]
    pooled = [value for value in floats if _rank(value) == 2]
    whole = _named(pooled, _POOLED_OUTPUTS) or (None if tokens else _only(pooled))
    first = _named(tokens, _TOKEN_OUTPUTS) or _only(tokens) if tokens else whole
    if first is not None:
        return EmbeddingOutputs(first, whole)
    shown = ", ".join(f"{value.name} {value.dtype} {value.shape}" for value in graph.outputs)
    raise InputError(
        f"{path}: no output is surely the embeddings: {shown}; export it with float32 "
        "last_hidden_state [batch, sequence, hidden] or sentence_embedding [batch, dimension]"
    )


#: The kinds of head, by the rank of ``logits``; a masked language model has a tagger's rank.
_KINDS: dict[int | None, HeadKind] = {2: "ForSequenceClassification", 3: "ForTokenClassification"}


class HeadOutputs(NamedTuple):
    """Names of the outputs that a head's numbers come from.

    Attributes:
        kind: The kind of head.
        first: The output for labels, or for beginnings, ``[batch, sequence]``.
        columns: How many numbers they are, for a text or for a token.
        second: The output for ends, ``[batch, sequence]``; None if ``first`` is for labels.
    """

    kind: HeadKind
    first: str
    columns: int
    second: str | None = None

    def __str__(self) -> str:
        """What a message calls them."""
        return self.first if self.second is None else f"{self.first} and {self.second}"


def head_outputs(graph: ir.Graph) -> HeadOutputs | None:
    """Return the outputs of a task's head; None if there are none.

    Source: transformers' names of them, which Optimum and txtai keep.
    """
    floats = {str(value.name): value for value in graph.outputs if value.dtype == ir.DataType.FLOAT}
    begins, ends = (floats.get(f"{side}_logits") for side in ("start", "end"))
    if begins is not None and ends is not None:
        matrices = _rank(begins) == 2 and _rank(ends) == 2
        first, second = str(begins.name), str(ends.name)
        return HeadOutputs("ForQuestionAnswering", first, 2, second) if matrices else None
    numbers = floats.get("logits")
    columns = None if numbers is None else last_axis(numbers)
    kind = None if numbers is None or columns is None else _KINDS.get(_rank(numbers))
    return None if kind is None or columns is None else HeadOutputs(kind, "logits", columns)


def _is_head(value: ir.Value) -> bool:
    """Return whether the output is that of a task's head, by transformers' name."""
    return str(value.name).endswith("logits")


def _named(values: list[ir.Value], names: Sequence[str]) -> str | None:
    """The first of ``names`` that is there, its last axis known."""
    sized = {value.name for value in values if last_axis(value) is not None}
    return next((name for name in names if name in sized), None)


def _only(values: list[ir.Value]) -> str | None:
    value = values[0] if len(values) == 1 else None
    return value.name if value is not None and last_axis(value) is not None else None


def _rank(value: ir.Value) -> int | None:
    return len(value.shape) if value.shape is not None else None


def _is_fixed(value: ir.Value, axis: int) -> bool:
    return value.shape is not None and isinstance(value.shape[axis], int)


def last_axis(value: ir.Value) -> int | None:
    """Return the last axis, if it is known."""
    last = value.shape[-1] if value.shape is not None and len(value.shape) else None
    return last if isinstance(last, int) else None


def remaining_steps(recipe: Recipe, outputs: EmbeddingOutputs, path: Path) -> Recipe:
    """Return the folder's steps without the steps that the chosen output already includes.

    Source: Optimum ``SentenceTransformersTransformerOnnxConfig``: ``sentence_embedding`` comes
    after all modules, but not after ``encode``'s ``truncate_dim``, and ``token_embeddings`` after
    those that change tokens; txtai ``HFOnnx``: ``embeddings`` are pooled and no more.
    """
    if outputs.first == "sentence_embedding" and any(step["step"] == "route" for step in recipe):
        raise InputError(
            f"{path}: output 'sentence_embedding' went through one route of the folder's Router; "
            "export last_hidden_state"
        )
    pools = [step for step in recipe if step["step"] == "pool"]
    if outputs.first != outputs.pooled:
        if outputs.first == "last_hidden_state" or recipe[:1] == tuple(pools[:1]):
            return recipe
    elif outputs.pooled == "sentence_embedding":
        if all(step.get("include_prompt", True) for step in pools):
            return tuple(step for step in recipe if step["step"] == "truncate")
    elif outputs.pooled == "embeddings" and recipe and recipe[0] in _TXTAI_POOLINGS:
        return recipe[1:]
    steps = ", ".join(str(step["step"]) for step in recipe) or "none"
    raise InputError(
        f"{path}: which of the folder's steps ({steps}) output {outputs.first!r} went through is "
        "not known; export last_hidden_state, or put the file, tokenizer.json and "
        "tokenizer_config.json into a folder of their own and list the steps in polybake.toml"
    )
