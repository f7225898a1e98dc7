"""Which kind of source a path is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from models.folders.tiny_folders import write_bert, write_sentence_transformers
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.sources import open_source
from polybake.base.files.hub_reference import HubReference
from polybake.errors import InputError, RequirementMissing

POOLING = ("Pooling", {"pooling_mode": "mean"})


def test_recognises_each_kind(tmp_path: Path) -> None:
    """A plain folder, a sentence-transformers folder and an .onnx file are told apart."""
    plain = open_source(write_bert(tmp_path / "plain"))
    modules = open_source(write_sentence_transformers(tmp_path / "modules", POOLING))
    file = open_source(write_encoder(tmp_path / "file"))
    assert (plain.encoder.name, plain.recipe) == ("bert", ())
    assert (modules.encoder.name, modules.recipe) == ("bert", ({"step": "pool", "mode": "mean"},))
    assert (file.encoder.name, file.recipe) == ("onnx", ())
    assert [one.encoder.proves for one in (plain, modules, file)] == ["steps", "steps", "source"]


def test_names_what_is_not_there(tmp_path: Path) -> None:
    """A path without anything, a folder without a model and another file are errors."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    for name, shown in (
        ("nothing", "nothing: is no model folder and no .onnx file"),
        ("notes.txt", "notes.txt: is no model folder and no .onnx file"),
        ("empty", "empty: has neither modules.json nor config.json"),
    ):
        with pytest.raises(InputError, match=shown):
            open_source(tmp_path / name)


def test_identifier_is_the_folder_or_the_hub_name(tmp_path: Path) -> None:
    """The manifest names a source by what does not depend on the machine."""
    snapshot = tmp_path / "models--owner--tiny-bert" / "snapshots" / "0a1b"
    assert open_source(write_bert(tmp_path / "tiny")).folder.identifier == "tiny"
    assert open_source(write_bert(snapshot)).folder.identifier == "owner/tiny-bert"


def test_the_hub_needs_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without huggingface_hub the message names the extra."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(RequirementMissing, match=r'hub:a/b: needs.*pip install "\.\[hub\]"'):
        open_source(HubReference("a", "b"))


def test_licence_comes_from_the_readme(tmp_path: Path) -> None:
    """Only the front matter of README.md names the licence."""
    folder = write_bert(tmp_path / "model")
    assert open_source(folder).folder.licence() is None
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\n")
    assert open_source(folder).folder.licence() == "apache-2.0"
    (folder / "README.md").write_text("# A model\n---\nlicense: mit\n---\n")
    assert open_source(folder).folder.licence() is None
