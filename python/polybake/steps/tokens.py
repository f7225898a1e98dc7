"""What a step may know of the texts beside their embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

#: A value of the graph, or an array.
Value = TypeVar("Value")


@dataclass
class Tokens(Generic[Value]):
    """The tokens that the embeddings of a batch come from; a step may change them for the next.

    Attributes:
        input_ids: int64 ``[batch, sequence]``.
        attention_mask: int64 ``[batch, sequence]``, 1 at a token and 0 at padding.
        prompt_length: int64 ``[1]``, how many of each text's first tokens are the prompt's; None
            where no step leaves them out.
        route: int64 ``[1]``, which of its routes a route step takes; None where there is none.
        weights: float32 ``[batch, sequence]``, what a step multiplied each token's embedding by,
            0 at padding; None where none did.
        hidden_states: float32 ``[batch, sequence, hidden]`` each: the input of the encoder's first
            layer, then the output of each layer; None where the encoder does not give them.
    """

    input_ids: Value
    attention_mask: Value
    prompt_length: Value | None = None
    route: Value | None = None
    weights: Any = None
    hidden_states: Any = None
