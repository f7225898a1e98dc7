"""The input and output of a step: embeddings, and the tokens that they come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

Value = TypeVar("Value")


@dataclass(frozen=True)
class State(Generic[Value]):
    """The embeddings of a batch of texts, as values of a graph or as arrays.

    Attributes:
        x: float ``[batch, sequence, hidden]`` before pooling and ``[batch, dimension]`` after it;
            ``[rows, hidden]`` where the rows of all texts stand together.
        input_ids: int64 ``[batch, sequence]``.
        attention_mask: int64 ``[batch, sequence]``, 1 at a token and 0 at padding, or at a token
            that a step left out.
        prompt_length: int64 ``[1]``, how many of each text's first tokens are the prompt's; None
            if no step asks for it.
        route: int64 ``[1]``, the number of the route that a route step takes; None without one.
        hidden_states: float32 ``[batch, sequence, hidden]`` each: the input of the encoder's first
            layer, then the output of each layer; empty where the encoder does not give them.
        sought: int64 ``[batch, sequence]``, 1 at a token of the text in which answers are sought;
            None where rows are not of a question and a text.
        counts: int64 ``[batch]``, how many rows of ``x`` are each text's; None where it is one.
        further: What else a text gets of the same pass, by the names of the graph's outputs.
    """

    x: Value
    input_ids: Value
    attention_mask: Value
    prompt_length: Value | None = None
    route: Value | None = None
    hidden_states: tuple[Value, ...] = ()
    sought: Value | None = None
    counts: Value | None = None
    further: Mapping[str, "State[Value]"] = field(default_factory=dict)

    def becomes(self, x: Value, **changes: Any) -> Self:
        """Return the state with a new ``x`` and these changes."""
        return replace(self, x=x, **changes)


Values = State[ir.Value]
Arrays = State[NDArray[Any]]
Floats = NDArray[np.floating[Any]]
