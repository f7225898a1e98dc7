"""A fixture and its cases: golden inputs and outputs, as JSON with exact numbers."""

import base64
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, JsonValue

from polybake.base.modelfile.record import GrownRecord, Record
from polybake.base.modelfile.rows import packed
from polybake.base.modelfile.tolerance import Embeddings, Slack, Tolerance

#: Where a client runs.
Device = Literal["cpu", "cuda"]
DEVICES: tuple[Device, ...] = get_args(Device)


class EncodedSlack(Record):
    """How far integer embeddings may lie from golden ones: uint8 ``[texts, dimension]``."""

    packed_bits: bool = Field(
        description="False: how many steps each element may differ. True: which of its bits may."
    )
    data: str = Field(description="base64, row by row.")


class Vectors(Record):
    """Embeddings ``[texts, dimension]``: base64 of little-endian numbers, or a sidecar's part."""

    dtype: Literal["float32", "int8", "uint8"] = "float32"
    shape: tuple[int, int]
    data: str | None = Field(default=None, description="base64, row by row.")
    places: str | None = Field(
        default=None,
        description="Where most elements are 0: base64 of little-endian int32, the places of the "
        "others, counted through all rows; data then has these alone.",
    )
    offset: int | None = Field(default=None, description="Byte offset in vectors.f32 instead.")
    slack: EncodedSlack | None = Field(default=None, description="None for float32.")


#: The source of a row of token ids: one text, or two.
Text = str | tuple[str, str]


class Case(GrownRecord):
    """One call of a client: its texts, the token ids and the embeddings they must give."""

    later: ClassVar[frozenset[str]] = frozenset({"further"})

    id: str
    why: str = Field(description="The fault that this case finds.")
    flags: tuple[str, ...] = ()
    prompt: str | None = None
    texts: tuple[Text, ...]
    input_ids: tuple[tuple[int, ...], ...]
    type_ids: tuple[tuple[int, ...], ...] | None = Field(
        default=None, description="The type of each id, of pairs; null where there are none."
    )
    embeddings: Vectors
    further: dict[str, Vectors] | None = Field(
        default=None,
        description="What further outputs must give, by name; absent where there are none.",
    )
    call: dict[str, JsonValue] | None = Field(
        default=None, description="What the task's own call is given; null where vectors are all."
    )
    answer: JsonValue = Field(default=None, description="What that call gives.")

    @property
    def vectors(self) -> tuple[Vectors, ...]:
        """What each output must give."""
        return (self.embeddings, *(self.further or {}).values())

    def with_vectors(self, vectors: Sequence[Vectors]) -> Self:
        """Return the case with others for its outputs, as many."""
        first, *others = vectors
        named = self.further and dict(zip(self.further, others, strict=True))
        return self.model_copy(update={"embeddings": first, "further": named})

    def rows(self, vocab_size: int) -> tuple[tuple[int, ...], ...]:
        """The rows that a graph is fed, with the types of their tokens packed into them."""
        if self.type_ids is None:
            return self.input_ids
        pairs = zip(self.input_ids, self.type_ids, strict=True)
        return tuple(tuple(packed(ids, types, vocab_size)) for ids, types in pairs)


class MadeBy(Record):
    """Who made the golden vectors, with the version of every package that took part."""

    kind: Literal["oracle", "reference"]
    packages: dict[str, str]


class Fixture(Record):
    """Golden cases for one model; the value of ``polybake.fixture``, or a cases.json."""

    format: Literal[1] = 1
    fingerprint: str
    made_by: MadeBy
    tolerances: dict[str, Tolerance]
    cases: tuple[Case, ...]


def encode_vectors(
    array: Embeddings, slack: Slack | None = None, *, dense: bool = False
) -> Vectors:
    """Encode ``[texts, dimension]`` exactly."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    rows, dimension = little.shape
    filled = np.flatnonzero(little)
    # A place takes as many bytes as a float32.
    sparse = not dense and array.dtype == np.float32 and 2 * len(filled) < little.size
    return Vectors.model_validate(
        {
            "dtype": array.dtype.name,
            "shape": (rows, dimension),
            "data": _base64(little.ravel()[filled] if sparse else little),
            "places": _base64(filled.astype("<i4")) if sparse else None,
            "slack": slack
            and EncodedSlack(packed_bits=slack.packed_bits, data=_base64(slack.values)),
        }
    )


def decode_vectors(vectors: Vectors) -> Embeddings:
    """Decode inline vectors to ``[texts, dimension]`` of their dtype."""
    if vectors.data is None:
        raise ValueError("the vectors lie in a sidecar file; read them with read_fixture")
    kind = np.dtype(vectors.dtype)
    rows, dimension = vectors.shape
    size = rows * dimension
    places = np.arange(size) if vectors.places is None else _places(vectors.places, size)
    raw = _decoded("data", vectors.data)
    expected = kind.itemsize * len(places)
    if len(raw) != expected:
        raise ValueError(f"data has {len(raw)} bytes, expected {expected} for {[*vectors.shape]}")
    array = np.zeros(size, kind)
    array[places] = np.frombuffer(raw, kind.newbyteorder("<"))
    return array.reshape(vectors.shape)


def decode_slack(vectors: Vectors) -> Slack | None:
    """Decode how far other vectors may lie from these; None for float32."""
    if vectors.dtype == "float32":
        return None
    if vectors.slack is None:
        raise ValueError(f"{vectors.dtype} vectors have no slack")
    raw = base64.b64decode(vectors.slack.data, validate=True)
    values = np.frombuffer(raw, np.uint8).reshape(vectors.shape)
    return Slack(values, packed_bits=vectors.slack.packed_bits)


def _places(text: str, size: int) -> NDArray[Any]:
    raw = _decoded("places", text)
    if len(raw) % 4:
        raise ValueError(f"places has {len(raw)} bytes, expected 4 for each")
    places = np.frombuffer(raw, "<i4")
    if ((places < 0) | (places >= size)).any():
        raise ValueError(f"places has one that is not below {size}")
    return places


def _decoded(name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError(f"{name} is not base64: {error}") from error


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
