"""The tokenizer.json of a folder that has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.old_tokenizers import OLD, write_old
from models.folders.tiny_folders import write_json
from polybake.baking.sources.tokenizer_files.made_tokenizer import make_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


@pytest.mark.parametrize("name", OLD)
def test_the_note_names_files_and_class(name: str, tmp_path: Path) -> None:
    """On one line, for the user."""
    made = make_tokenizer(ModelFolder.at(write_old(tmp_path, name)))
    files = {path.name for path in tmp_path.iterdir()} - {"tokenizer_config.json"}
    assert made.note.endswith(f"as {name} makes it")
    assert all(file in made.note for file in files)


@pytest.mark.parametrize(
    ("declared", "model", "expected"),
    [
        ("BertTokenizerFast", {}, "vocab.txt"),
        (None, {"model_type": "distilbert"}, "vocab.txt"),
        (None, {"model_type": "bert", "tokenizer_class": "RobertaTokenizer"}, "vocab.json"),
        ("RobertaTokenizer", {"model_type": "bert"}, "vocab.json"),
        (None, {"model_type": "roberta"}, "vocab.json"),
    ],
)
def test_the_class_decides(
    declared: str | None, model: dict[str, str], expected: str, tmp_path: Path
) -> None:
    """The one that the settings name, else the model's, whatever files there are."""
    OLD["BertTokenizer"].write(tmp_path)
    OLD["RobertaTokenizer"].write(tmp_path)
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": declared})
    write_json(tmp_path / "config.json", model)
    assert f"made of {expected}" in make_tokenizer(ModelFolder.at(tmp_path)).note


@pytest.mark.parametrize(
    ("name", "model", "shown"),
    [
        (None, {}, r"has no tokenizer\.json beside vocab\.txt, and how TokenizersBackend makes"),
        ("NewTokenizer", {}, "how NewTokenizer makes one of files is not known; write it with"),
        ("PreTrainedTokenizerFast", {"model_type": "bert"}, "PreTrainedTokenizer makes"),
        ("BertTokenizer", {"model_type": "modernbert"}, "how TokenizersBackend makes one"),
        ("BertJapaneseTokenizer", {}, "BertJapaneseTokenizer, is Python code of transformers"),
        ("BertweetTokenizer", {}, "no tokenizer.json stands in for; take a model with another"),
        ("RobertaTokenizer", {}, r"and no vocab\.json and merges\.txt of which RobertaTokenizer"),
        ("T5TokenizerFast", {}, r"has no tokenizer\.json, and no spiece\.model of which T5Token"),
    ],
)
def test_what_cannot_be_made_is_refused(
    name: str | None, model: dict[str, str], shown: str, tmp_path: Path
) -> None:
    """The message names the class, whatever keys of its own it has."""
    OLD["BertTokenizer"].write(tmp_path)
    settings = {"tokenizer_class": name, "mecab_kwargs": {"mecab_dic": "unidic_lite"}}
    write_json(tmp_path / "tokenizer_config.json", settings)
    write_json(tmp_path / "config.json", model)
    with pytest.raises(InputError, match=shown):
        make_tokenizer(ModelFolder.at(tmp_path))


def test_a_folder_without_any_file_is_refused(tmp_path: Path) -> None:
    """The remedy writes the file."""
    with pytest.raises(InputError, match=r"has no tokenizer\.json; write it with: python"):
        make_tokenizer(ModelFolder.at(tmp_path))


def test_a_second_file_of_sentencepiece_is_refused(tmp_path: Path) -> None:
    """Transformers takes tokenizer.model, whatever the class's own file is."""
    folder = write_old(tmp_path, "T5Tokenizer")
    (folder / "tokenizer.model").write_bytes((folder / "spiece.model").read_bytes())
    with pytest.raises(InputError, match=r"has tokenizer\.model beside spiece\.model"):
        make_tokenizer(ModelFolder.at(folder))


def test_what_tokenizers_refuses_is_named(tmp_path: Path) -> None:
    """A vocabulary without the token that stands for unknown words."""
    folder = write_old(tmp_path, "BertTokenizer", sep_token="a:b")
    with pytest.raises(InputError, match=r"vocab\.txt make no tokenizer \("):
        make_tokenizer(ModelFolder.at(folder))
