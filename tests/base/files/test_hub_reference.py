"""References to repositories of the hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.files.hub_reference import HubReference, parse_source
from polybake.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hub:BAAI/bge-small-en-v1.5", HubReference("BAAI", "bge-small-en-v1.5")),
        ("hub:owner/a_b@v1.0", HubReference("owner", "a_b", "v1.0")),
        ("hub:owner/name@refs/pr/3", HubReference("owner", "name", "refs/pr/3")),
    ],
)
def test_parses_and_prints(text: str, expected: HubReference) -> None:
    """A reference is read whole, and written as it was."""
    assert parse_source(text) == parse_source(Path(text)) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    "text",
    [
        "hub:", "hub:name", "hub:a/b/c", "hub:a/b@", "hub:a/../b", "hub:a/b@../../x", "hub:a/b c",
        "hub:a/b@-x", "hub:-a/b", "hub:a/b.@x", "hub:/a/b", "hub:\u00e4/b",
    ],
)  # fmt: skip
def test_refuses_what_names_none(text: str) -> None:
    """The message shows the value and the form."""
    with pytest.raises(
        InputError, match="names no repository; expected hub:owner/name or"
    ) as caught:
        parse_source(text)
    assert str(caught.value).startswith(text)


def test_paths_are_no_references() -> None:
    """Text that does not begin with hub: is a path."""
    for text in ("models/hub:a", "/hub:a/b", "hub/a", "Hub:a/b"):
        assert parse_source(text) == Path(text)
