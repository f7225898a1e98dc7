"""A model file with a damaged head, or a whole one, and what readers say of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeadCase:
    """One file.

    Attributes:
        id: Names the file: ``ID.onnx``.
        why: The fault that the case finds in a reader.
        data: The file's bytes.
        message: What follows ``PATH: ``, with FOLDER for its folder; None where the file is whole.
        readers: ``all``, or ``clients`` where only who has a contract or a tokenizer notices.
        older: What clients of a model without weights beside it say, where that is something else;
            they know format 1 alone.
    """

    id: str
    why: str
    data: bytes
    message: str | None
    readers: str = "all"
    older: str | None = None


def not_whole(position: int) -> str:
    """What is said of an entry that begins at a byte and is not whole."""
    return f"is not a whole ONNX file (byte {position}); copy the file again"
