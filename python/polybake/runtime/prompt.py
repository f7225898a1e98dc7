"""Which prompt texts are embedded with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polybake.base.modelfile.manifest import DOCUMENT_PROMPTS, Contract
from polybake.errors import InputError

_ROLES = {"query": ("query",), "document": DOCUMENT_PROMPTS}


@dataclass(frozen=True)
class Prompt:
    """A prompt's name, or what the texts are; neither takes the model's default.

    Attributes:
        name: Of one of the model's prompts.
        role: As the clients' ``embed_queries`` and ``embed_documents`` choose it: where the model
            has no prompt for it none is used, not even the default.

    Raises:
        InputError: both are given, or no such role.
    """

    name: str | None = None
    role: Literal["query", "document"] | None = None

    def __post_init__(self) -> None:
        """Refuse what would be ignored."""
        if self.name is not None and self.role is not None:
            raise InputError(
                f"prompt {self.name!r} and role {self.role!r} exclude each other; give one of them"
            )
        if self.role is not None and self.role not in _ROLES:
            raise InputError(f"unknown role {self.role!r}; choose one of: {', '.join(_ROLES)}")

    def contract(self, contract: Contract) -> Contract:
        """The contract of a model whose default prompt is this one.

        Raises:
            InputError: the model has no prompt of this name.
        """
        if self.role is not None:
            name = next(filter(contract.prompts.__contains__, _ROLES[self.role]), None)
        else:
            name = contract.default_prompt if self.name is None else self.name
        if name is not None and name not in contract.prompts:
            choices = f"choose one of: {', '.join(contract.prompts)}"
            raise InputError(
                f"unknown prompt {name!r}; {choices if contract.prompts else 'leave it out'}"
            )
        return contract.model_copy(update={"default_prompt": name})
