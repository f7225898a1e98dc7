"""The prompt that ``--prompt``, ``--query`` or ``--document`` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.runtime.prompt import Prompt


def wanted_prompt(prompt: str | None, *, query: bool, document: bool) -> Prompt:
    """Return the requested prompt; without a request the model's default."""
    from polybake.runtime.prompt import Prompt

    if sum((prompt is not None, query, document)) > 1:
        raise InputError("--prompt, --query and --document exclude each other; give one of them")
    return Prompt(prompt, "query" if query else "document" if document else None)
