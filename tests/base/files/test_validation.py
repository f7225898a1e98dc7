"""A file's faults are one line: the key, what was expected, and the value; every key is known."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from models.folders.tiny_folders import write_json
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder, SourceSettings
from polybake.base.files.validation import first_fault, key_path
from polybake.errors import InputError


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
        ({"parts": [{"factor": -1.0}]}, "parts[0].factor: Input should be greater than 0, found"),
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
    assert found.startswith(shown)
    assert "\n" not in found
    assert key_path(("steps", 2, "mode")) == "steps[2].mode"


class Scaling(KnownKeys):
    """An object in the file."""

    factor: float = 1.0


class Settings(KnownKeys):
    """What the file may say."""

    passed_over: ClassVar[Collection[str]] = ("dropout",)
    hints: ClassVar[dict[str, str]] = {"mask": "draw it"}

    size: Annotated[int, Field(validation_alias=AliasChoices("size", "n_size"))] = 1
    scaling: Scaling = Scaling()
    layers: dict[str, Scaling | None] = Field(default_factory=dict)


def read(folder: Path, *allowed: str, **keys: Any) -> ModelFolder:
    write_json(folder / "config.json", keys)
    opened = ModelFolder.at(folder, SourceSettings(allow_unknown=allowed))
    opened.inner("").read("config.json", Settings, remedy="do this")
    return opened


def test_all_unknown_keys_are_named_with_their_values(tmp_path: Path) -> None:
    """One message names file, keys, values and both remedies, and what else helps with one key."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, size=2, mask="x" * 99, scaling={"short": 1}, layers={"1": {"y": [2]}})
    assert str(caught.value) == (
        f'{tmp_path / "config.json"}: unknown keys mask = "{"x" * 39}…, scaling.short = 1, '
        "layers.1.y = [2], which may change vectors; do this; or, if vectors are right without, "
        'say allow_unknown = ["mask", "scaling.short", "layers.1.y"] below [model] in polybake.toml'
        ' (--set \'model.allow_unknown=["mask", "scaling.short", "layers.1.y"]\'); mask: draw it'
    )


def test_a_message_is_bounded_and_printable(tmp_path: Path) -> None:
    """A file from outside may have any number of keys, of any characters."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, **{f"\x1b{number}": 1 for number in range(1000)})
    assert r"unknown keys \x1b0 = 1, \x1b1 = 1, " in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("value", [None, False, 0, 0.0, "", [], {}])
def test_a_key_that_says_nothing_is_no_error(value: object, tmp_path: Path) -> None:
    """Empty values are no error, nor are ignored keys and keys by their other name."""
    read(tmp_path, mask=value, scaling={"short": value}, dropout=0.1, size=1, n_size=2)


def test_allowed_keys_are_met(tmp_path: Path) -> None:
    """An allowed key is no error, and is known to have been met."""
    folder = read(tmp_path, "mask", "scaling.short", mask=1, scaling={"short": 1})
    folder.allowed.check_all_met()
    assert folder.allowed.met == {"mask", "scaling.short"}


@pytest.mark.parametrize("key", ["mask", "dropout", "size"])
def test_a_key_that_needs_no_permission_is_refused(key: str, tmp_path: Path) -> None:
    """An allowed key that no file has, or that is known anyway, is refused."""
    folder = read(tmp_path, key, dropout=0.1, size=2)
    with pytest.raises(InputError, match=rf"allow_unknown: no file .* '{key}'; leave it out"):
        folder.allowed.check_all_met()
