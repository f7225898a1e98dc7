"""A fault is one line: the key, what was expected, and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from polybake.base.files.validation import first_fault, key_path


class Part(BaseModel):
    factor: float = Field(gt=0)


class Whole(BaseModel):
    model_config = ConfigDict(extra="ignore")

    parts: list[Part] = []
    name: str = ""
    none: None = None
    texts: dict[str, str] = {}

    @model_validator(mode="after")
    def _check(self) -> Whole:
        if len(self.parts) > 1:
            raise ValueError("2 parts, expected at most 1")
        return self


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"parts": [{"factor": -1.0}]}, "parts[0].factor: Input should be greater than 0, fo"),
        ({"parts": [{"factor": -1.0}]}, ", found -1.0"),
        ({"parts": [{}]}, "parts[0].factor: is missing"),
        ({"parts": [{"factor": 1}, {"factor": 2}]}, "2 parts, expected at most 1"),
        ({"name": None}, "name: Input should be a valid string, found null"),
        ({"none": True}, "none: Input should be null, found true"),
        ({"texts": {"a\x1b\n": 1}}, "texts.a\\x1b\\n: Input should be a valid string, found 1"),
        ({"name": ["a" * 1000]}, f"name: Input should be a valid string, found ['{'a' * 78}..."),
        ({"name": np.ones((2, 3))}, "name: Input should be a valid string"),
    ],
)
def test_first_fault(value: dict[str, Any], shown: str) -> None:
    """A fault names its key, unless it is one of the whole, and shows a short value."""
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(value)
    found = first_fault(caught.value)
    assert found.startswith(shown) or found.endswith(shown)
    assert "\n" not in found


def test_key_path() -> None:
    """A number in a key path is an index."""
    assert key_path(("steps", 2, "mode")) == "steps[2].mode"
    assert key_path(()) == ""
