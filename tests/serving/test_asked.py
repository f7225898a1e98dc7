"""A wrong body is explained in one line."""

from __future__ import annotations

import pytest
from pydantic import Field, ValidationError

from polybake.serving.asked import Asked, Batch, InputRows, RowOrRows, Texts


class Body(Asked):
    """A body with one field of each kind."""

    rows: InputRows = ""
    row: RowOrRows = ""
    batch: Batch = ""
    texts: Texts = Field(default_factory=list)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rows", None, "is null; expected a text, texts, or rows of token ids"),
        ("rows", 1, "is a number; expected"),
        ("rows", [1, 2], "element 0 is a number; expected a text, texts, or rows of token ids"),
        ("rows", ["a", {}], "element 1 is an object; expected"),
        ("rows", [[1], [1, "a"]], "element 1 is a list with a text; expected"),
        ("rows", [[1], [True]], "element 1 is a list with a truth value; expected"),
        ("row", [1, "a"], "element 1 is a text; expected a text, texts, token ids, or rows of"),
        ("row", [1.5], "element 0 is a number; expected"),
        ("batch", ["a"], "element 0 is a text; expected a text, or lists of one text each"),
        ("batch", [["a"], [None]], "element 1 is a list with null; expected"),
        ("dimension", 1, "'dimension': unknown key; choose one of: rows, row, batch, texts"),
        (
            "text",
            [],
            "'text': unknown key; choose one of: rows, row, batch, texts (did you mean texts?)",
        ),
        ("a" * 10**6, 1, "'" + "a" * 50 + "': unknown key; choose one of"),
    ],
)
def test_what_is_wrong_is_named(key: str, value: object, message: str) -> None:
    """The message holds the place and the kind of a wrong value, and never its text."""
    with pytest.raises(ValidationError) as refused:
        Body.model_validate({key: value})
    (error,) = refused.value.errors()
    assert error["msg"].removeprefix("Value error, ").startswith(message)


@pytest.mark.parametrize(
    "given",
    [
        {"rows": "a"},
        {"rows": ["a", "b"]},
        {"rows": [[1, 2], [3]]},
        {"rows": []},
        {"row": [1, 2]},
        {"batch": [["a"], ["b"]]},
        {"texts": ["a"]},
    ],
)
def test_what_may_be_asked_stays_as_it_is(given: dict[str, object]) -> None:
    """Texts, lists and token ids pass unchanged."""
    assert Body.model_validate(given).model_dump(exclude_unset=True) == given


def test_an_unknown_key_that_says_nothing_is_let_be() -> None:
    """Clients send null for options that they leave open."""
    assert Body.model_validate({"rank_fields": None}) == Body()


def test_one_error_is_enough() -> None:
    """Only the first of thousands of wrong texts is reported."""
    with pytest.raises(ValidationError) as refused:
        Body.model_validate({"texts": [None] * 5000})
    assert len(refused.value.errors()) == 1
