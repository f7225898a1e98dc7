"""The choice of the prompt that texts are embedded with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polybake.base.modelfile.manifest import DOCUMENT_PROMPTS, Contract
from polybake.errors import InputError

_ROLES = {"query": ("query",), "document": DOCUMENT_PROMPTS}


@dataclass(frozen=True)
class Prompt:
    """A prompt's name, or the role of the texts; with neither, the model's default is used.

    Attributes:
        name: The name of one of the model's prompts.
        role: Chooses the prompt like the clients' ``embed_queries`` and ``embed_documents``: if
            the model has no prompt for the role, none is used, not even the default.

    Raises:
        InputError: Both are set, or the role is unknown.
    """

    name: str | None = None
    role: Literal["query", "document"] | None = None

    def __post_init__(self) -> None:
        """Refuse a name that would be ignored, and an unknown role."""
        if self.name is not None and self.role is not None:
            raise InputError(
                f"prompt {self.name!r} and role {self.role!r} exclude each other; give one of them"
            )
        if self.role is not None and self.role not in _ROLES:
            raise InputError(f"unknown role {self.role!r}; choose one of: {', '.join(_ROLES)}")

    def contract(self, contract: Contract) -> Contract:
        """Return the contract with this prompt as its default prompt.

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
