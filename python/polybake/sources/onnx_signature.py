"""What the inputs and outputs of an ONNX encoder are for."""

from __future__ import annotations

from pathlib import Path

from onnxscript import ir

from polybake.errors import InputError
from polybake.manifest import Feed

_FEEDS: dict[str, Feed] = {
    "input_ids": "input_ids",
    "attention_mask": "attention_mask",
    "input_mask": "attention_mask",
    "token_type_ids": "token_type_ids",
    "segment_ids": "token_type_ids",
    "position_ids": "position_ids",
}

#: What exporters call the outputs, preferred where several have the same rank.
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_POOLED_OUTPUTS = ("sentence_embedding", "pooler_output")


def input_feeds(graph: ir.Graph, path: Path) -> dict[str, Feed]:
    """Say what to feed to each input, by the input's name; inputs are known by name and type.

    Raises:
        InputError: an input that is not known, of another type, or of a fixed shape, or none for
            the token ids or the attention mask.
    """
    feeds: dict[str, Feed] = {}
    for value in graph.inputs:
        name = str(value.name)
        if name not in _FEEDS:
            raise InputError(f"{path}: unknown input {name!r}; known are: {', '.join(_FEEDS)}")
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
    for needed in ("input_ids", "attention_mask"):
        if needed not in feeds.values():
            raise InputError(
                f"{path}: has no input {needed}, only {', '.join(feeds) or 'none'}; "
                "export it with input_ids and attention_mask"
            )
    return feeds


def embeddings_output(graph: ir.Graph, path: Path) -> tuple[str, bool]:
    """Choose the output that steps begin with: by shape, then by name, never by position.

    Returns:
        Its name, and whether it is a pooled vector already, which is only taken where there are
        no token embeddings.

    Raises:
        InputError: no output is surely either.
    """
    floats = [value for value in graph.outputs if value.dtype == ir.DataType.FLOAT]
    tokens = [value for value in floats if _rank(value) == 3 and not _is_fixed(value, axis=1)]
    pooled = [value for value in floats if _rank(value) == 2]
    for found, preferred in ((tokens, _TOKEN_OUTPUTS), (pooled, _POOLED_OUTPUTS)):
        named = [value for name in preferred for value in found if value.name == name]
        if (named or len(found) == 1) and last_axis((named or found)[0]) is not None:
            chosen = (named or found)[0]
            return str(chosen.name), found is pooled
        if found:
            break
    shown = ", ".join(f"{one.name} {one.dtype} {one.shape}" for one in graph.outputs)
    raise InputError(
        f"{path}: no output is surely the embeddings: {shown}; expected float32 "
        "last_hidden_state [batch, sequence, hidden] or sentence_embedding [batch, dimension]"
    )


def _rank(value: ir.Value) -> int | None:
    return len(value.shape) if value.shape is not None else None


def _is_fixed(value: ir.Value, axis: int) -> bool:
    return value.shape is not None and isinstance(value.shape[axis], int)


def last_axis(value: ir.Value) -> int | None:
    """The last axis, where it is known."""
    last = value.shape[-1] if value.shape is not None and len(value.shape) else None
    return last if isinstance(last, int) else None
