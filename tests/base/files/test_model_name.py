"""A model's name is made from its source's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.files.hub_reference import HubReference
from polybake.base.files.model_name import model_name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("all-MiniLM-L6-v2", "all-minilm-l6-v2"),
        ("bge-small-en-v1.5", "bge-small-en-v1-5"),
        ("E5_large.2", "e5-large-2"),
        ("7b", "model-7b"),
        ("é", "model"),
        ("a" * 60, "a" * 50),
    ],
)
def test_a_folder_gives_all_of_its_name(tmp_path: Path, source: str, name: str) -> None:
    """A version behind a dot is no suffix."""
    (tmp_path / source).mkdir()
    assert model_name(tmp_path / source) == name


def test_a_file_gives_its_name_without_the_suffix(tmp_path: Path) -> None:
    """Only the last suffix is dropped: bge-v1.5.onnx is bge-v1-5."""
    (tmp_path / "bge-v1.5.onnx").touch()
    assert model_name(tmp_path / "bge-v1.5.onnx") == "bge-v1-5"


def test_a_repository_gives_its_name() -> None:
    """The owner and the revision of a repository are left out, as for its folder."""
    assert model_name(HubReference("BAAI", "bge-small-en-v1.5", "main")) == "bge-small-en-v1-5"
