"""Shared parts of request bodies: known keys, and inputs that are validated by hand."""

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    FailFast,
    PlainValidator,
    StrictStr,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)

from polybake.base.files.validation import unknown_key

#: The characters of an unknown key that are compared and shown.
_SHOWN = 50

#: The names of JSON's types.
_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", int: "a number"}

#: Texts; validation stops at the first wrong value, as there may be thousands.
Texts = Annotated[list[StrictStr], FailFast()]


class RequestBody(BaseModel):
    """A body whose keys are all known: what is ignored would not be what was asked for."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: Any) -> Any:
        known = [*cls.model_fields]
        for key, value in data.items() if isinstance(data, dict) else ():
            if key not in known and value is not None:
                shown = key[:_SHOWN]
                raise ValueError(f"{shown!r}: {unknown_key(shown, known)}")
        return data


def _inputs(value: Any, expected: str, flat: tuple[type, ...], inner: type) -> Any:
    """Check for a text, a list of one type in ``flat``, or a list of lists of ``inner``."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise ValueError(f"is {_named(value)}; expected {expected}")
    kinds = set(map(type, value))
    within = kinds == {list} and all(set(map(type, part)) <= {inner} for part in value)
    if within or (len(kinds) < 2 and kinds <= {*flat}):
        return value
    for index, part in enumerate(value):
        if type(part) not in (*flat, list) or type(part) is not type(value[0]):
            raise ValueError(f"element {index} is {_named(part)}; expected {expected}")
        if type(part) is list and (wrong := [each for each in part if type(each) is not inner]):
            fault = f"element {index} is a list with {_named(wrong[0])}"
            raise ValueError(f"{fault}; expected {expected}")
    raise AssertionError


def _named(value: object) -> str:
    return "null" if value is None else _NAMES.get(type(value), "a number")


def _judged(
    schema: Any, expected: str, *, flat: tuple[type, ...], inner: type = int
) -> tuple[PlainValidator, WithJsonSchema]:
    """Return a validator that works by hand, and the schema that says the same."""
    check = PlainValidator(lambda value: _inputs(value, expected, flat, inner))
    return check, WithJsonSchema(TypeAdapter(schema).json_schema())


_ROWS = str | list[str] | list[list[int]]
_ROW_OR_ROWS = str | list[str] | list[int] | list[list[int]]
_BATCH = str | list[list[str]]

#: A text, texts, or rows of token ids.
InputRows = Annotated[_ROWS, *_judged(_ROWS, "a text, texts, or rows of token ids", flat=(str,))]

#: A text, texts, a row of token ids, or rows of token ids.
RowOrRows = Annotated[
    _ROW_OR_ROWS,
    *_judged(_ROW_OR_ROWS, "a text, texts, token ids, or rows of token ids", flat=(str, int)),
]

#: A text, or lists of one text each.
Batch = Annotated[_BATCH, *_judged(_BATCH, "a text, or lists of one text each", flat=(), inner=str)]
