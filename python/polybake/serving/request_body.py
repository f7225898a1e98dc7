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
    def _known(cls, given: Any) -> Any:
        known = [*cls.model_fields]
        for key, value in given.items() if isinstance(given, dict) else ():
            if key not in known and value is not None:
                shown = key[:_SHOWN]
                raise ValueError(f"{shown!r}: {unknown_key(shown, known)}")
        return given


def _inputs(given: Any, expected: str, flat: tuple[type, ...], inner: type) -> Any:
    """Check for a text, a list of one type in ``flat``, or a list of lists of ``inner``."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise ValueError(f"is {_named(given)}; expected {expected}")
    kinds = set(map(type, given))
    within = kinds == {list} and all(set(map(type, one)) <= {inner} for one in given)
    if within or (len(kinds) < 2 and kinds <= {*flat}):
        return given
    for place, one in enumerate(given):
        if type(one) not in (*flat, list) or type(one) is not type(given[0]):
            raise ValueError(f"element {place} is {_named(one)}; expected {expected}")
        if type(one) is list and (wrong := [each for each in one if type(each) is not inner]):
            found = f"element {place} is a list with {_named(wrong[0])}"
            raise ValueError(f"{found}; expected {expected}")
    raise AssertionError


def _named(value: object) -> str:
    return "null" if value is None else _NAMES.get(type(value), "a number")


def _judged(
    schema: Any, expected: str, *, flat: tuple[type, ...], inner: type = int
) -> tuple[PlainValidator, WithJsonSchema]:
    """Return a validator that works by hand, and the schema that says the same."""
    check = PlainValidator(lambda given: _inputs(given, expected, flat, inner))
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
