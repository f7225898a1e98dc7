"""Names of sources, of their models, and of the steps before a fitted array."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polybake.base.files.fit_record import RECORD, arrays_of, steps_before
from polybake.base.files.hub_reference import HubReference, parse_source
from polybake.base.files.model_name import model_name
from polybake.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hub:BAAI/bge-small-en-v1.5", HubReference("BAAI", "bge-small-en-v1.5")),
        ("hub:owner/a_b@v1.0", HubReference("owner", "a_b", "v1.0")),
        ("hub:owner/name@refs/pr/3", HubReference("owner", "name", "refs/pr/3")),
        ("models/hub:a", Path("models/hub:a")),
        ("hub/a", Path("hub/a")),
        ("Hub:a/b", Path("Hub:a/b")),
    ],
)
def test_a_source_is_a_reference_or_a_path(text: str, expected: HubReference | Path) -> None:
    """A reference begins with hub:, is read whole, and written as it was."""
    assert parse_source(text) == parse_source(Path(text)) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "hub:",
            "hub:name",
            "hub:a/b/c",
            "hub:a/b@",
            "hub:a/../b",
            "hub:a/b@../../x",
            "hub:a/b c",
        ),
        *("hub:a/b@-x", "hub:-a/b", "hub:a/b.@x", "hub:/a/b", "hub:\u00e4/b"),
    ],
)
def test_refuses_what_names_none(text: str) -> None:
    """The message shows the value and the form."""
    with pytest.raises(InputError, match="names no repository; expected hub:owner/name") as caught:
        parse_source(text)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("all-MiniLM-L6-v2", "all-minilm-l6-v2"),
        ("bge-small-en-v1.5", "bge-small-en-v1-5"),
        ("E5_large.2", "e5-large-2"),
        ("7b", "model-7b"),
        ("é", "model"),
        ("a" * 60, "a" * 50),
        ("bge-v1.5.onnx", "bge-v1-5"),
        (HubReference("BAAI", "bge-small-en-v1.5", "main"), "bge-small-en-v1-5"),
    ],
)
def test_a_model_is_named_after_its_source(
    tmp_path: Path, source: str | HubReference, name: str
) -> None:
    """A folder's name, a file's without its last suffix, or a repository's without its owner."""
    if isinstance(source, str):
        path = tmp_path / source
        if path.suffix == ".onnx":
            path.touch()
        else:
            path.mkdir()
    assert model_name(path if isinstance(source, str) else source) == name


WRITTEN = {
    "arrays": {"mean.npy": [3]},
    "model": {"name": "m", "steps": ["pool(mode=mean)"], "fingerprint": "f", "prompt": None},
    "corpus": {"sha256": "c"},
}


def test_an_array_knows_the_steps_before_it(tmp_path: Path) -> None:
    """Only arrays that the record names have known steps before them."""
    (tmp_path / RECORD).write_text(json.dumps(WRITTEN))
    assert arrays_of(tmp_path) == {"mean.npy"}
    assert steps_before(tmp_path / "mean.npy") == ("pool(mode=mean)",)
    assert steps_before(tmp_path / "other.npy") is None


@pytest.mark.parametrize("content", [None, "{", "[]", '"a"', '{"arrays": 3}', "{}"])
def test_without_a_record_nothing_is_known(content: str | None, tmp_path: Path) -> None:
    """Arrays without a record may come from anywhere."""
    if content is not None:
        (tmp_path / RECORD).write_text(content)
    assert arrays_of(tmp_path) == set()
    assert steps_before(tmp_path / "mean.npy") is None
    (tmp_path / RECORD).write_text('{"arrays": ["mean.npy"]}')
    assert steps_before(tmp_path / "mean.npy") is None
