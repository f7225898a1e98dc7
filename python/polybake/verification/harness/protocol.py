"""The messages of the harness protocol: a JSON object per line, see docs/protocol.md."""

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from polybake.base.modelfile.fixture import Device, Text

#: The pattern of a language's name.
LANGUAGE = r"^[a-z][a-z0-9-]*$"

#: The execution provider that must run the model on a device.
PROVIDERS: dict[Device, str] = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


#: What places of characters count: those of strings in Python, in JavaScript, and in Go.
Places = Literal["code_points", "utf-16", "utf-8"]


class Message(BaseModel):
    """A part of the protocol. Numbers are not taken for strings nor the other way round."""

    model_config = ConfigDict(frozen=True, strict=True)


class Start(Message):
    """Open the model on a device; answered by Started."""

    cmd: Literal["start"] = "start"
    seq: int = 0
    protocol: Literal[1] = 1
    model: str = Field(description="Absolute path of the model file.")
    device: Device


class Tokenize(Message):
    """Tokenise texts; answered by the token ids of each text, or of pairs by TypedRows."""

    cmd: Literal["tokenize"] = "tokenize"
    seq: int = 0
    texts: tuple[Text, ...]
    prompt: str | None


class EmbedIds(Message):
    """Embed rows of token ids as one batch; answered by EncodedVectors."""

    cmd: Literal["embed_ids"] = "embed_ids"
    seq: int = 0
    input_ids: tuple[tuple[int, ...], ...]
    type_ids: tuple[tuple[int, ...], ...] | None = Field(
        default=None, description="Of pairs, the type of each id."
    )
    prompt: str | None


class Embed(Message):
    """Embed texts or pairs; answered by EncodedVectors."""

    cmd: Literal["embed"] = "embed"
    seq: int = 0
    texts: tuple[Text, ...]
    prompt: str | None


class Call(Message):
    """Ask for the answer of the model's task, with the call's own arguments; answered by JSON."""

    model_config = ConfigDict(extra="allow")

    cmd: Literal["call"] = "call"
    seq: int = 0


class Stream(Message):
    """Ask for the same of a stream of texts: the arguments and the answer of embed, or of call."""

    model_config = ConfigDict(extra="allow")

    cmd: Literal["stream"] = "stream"
    seq: int = 0


class Arguments(Message):
    """Any of these requests, with arguments that may be wrong; answered by results or an error."""

    model_config = ConfigDict(extra="allow")

    cmd: str
    seq: int = 0


class SelfCheck(Message):
    """Run the client's own self-check; answered by the largest difference, a number."""

    cmd: Literal["self_check"] = "self_check"
    seq: int = 0


class Stop(Message):
    """End; answered by null, then the harness exits with code 0."""

    cmd: Literal["stop"] = "stop"
    seq: int = 0


Request = Start | Tokenize | EmbedIds | Embed | Call | Stream | Arguments | SelfCheck | Stop


class ClientVersions(Message):
    """The language of the client and the versions that it runs with."""

    language: str = Field(pattern=LANGUAGE)
    language_version: str
    runtime_version: str
    tokenizer_version: str


class Provider(Message):
    """The execution provider that runs the model, and how that was established."""

    requested: Device
    active: str
    proven_by: Literal["session", "append", "profile"]


class Started(Message):
    """The results of start."""

    protocol: Literal[1]
    client: ClientVersions
    name: str
    fingerprint: str
    provider: Provider
    capabilities: list[str] = Field(description="The requests that are not skipped.")
    places: Places = Field(
        default="code_points", description="What places of characters in answers count."
    )


class TypedRows(Message):
    """The results of tokenize for pairs."""

    input_ids: list[list[int]]
    type_ids: list[list[int]]


class EncodedVectors(Message):
    """The results of embed_ids and embed."""

    dtype: str
    shape: list[int]
    data: str = Field(description="base64 of little-endian numbers, row by row.")


class AnswerMessage(Message):
    """One line from the harness: exactly one of the three kinds below."""

    model_config = ConfigDict(extra="forbid")

    seq: int = Field(description="The request's seq.")


class Results(AnswerMessage):
    """The client did what was asked."""

    results: Any


class Skipped(AnswerMessage):
    """The client cannot do this."""

    skipped: Literal[True]
    reason: str


class Errored(AnswerMessage):
    """The client tried and failed."""

    errored: Literal[True]
    kind: Literal[
        "invalid_text",
        "unknown_prompt",
        "long_text",
        "argument",
        "wrong_model",
        "device",
        "internal",
    ]
    message: str
    index: int | None = None


Answer = Results | Skipped | Errored

_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


def encode_request(request: Request) -> bytes:
    """One line of ASCII JSON."""
    return json.dumps(request.model_dump(), ensure_ascii=True).encode("ascii") + b"\n"


def parse_answer(line: bytes, seq: int) -> Answer:
    """Read the answer to request ``seq``."""
    try:
        # Bytes could begin with a byte order mark, or be UTF-16.
        value = json.loads(line.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a line of JSON in ASCII: {_start_of(line)}") from error
    try:
        answer = _ANSWER.validate_python(value)
    except ValidationError as error:
        raise ValueError(f"not an answer of the protocol: {_start_of(line)}") from error
    if answer.seq != seq:
        raise ValueError(f"an answer to request {answer.seq}, expected one to {seq}")
    return answer


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _start_of(line: bytes) -> str:
    return line[:100].decode("utf-8", "replace").strip()
