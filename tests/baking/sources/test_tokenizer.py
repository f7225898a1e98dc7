"""Tokenizers of folders, with a tokenizer.json and with older files."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.old_tokenizers import write_old
from models.folders.tiny_folders import write_json, write_tokenizer
from polybake.baking.sources.tokenizer import open_tokenizer, with_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


def test_older_files_give_what_their_tokenizer_json_gives(tmp_path: Path) -> None:
    """Limit, padding and ids; a tokenizer.json beside them is all that is read."""
    folder = ModelFolder.at(write_old(tmp_path, "BertTokenizer", pad_token="[UNK]"))
    made = open_tokenizer(folder, max_seq_length=4)
    assert (made.max_length, made.pad_id) == (4, 1)
    assert made.encode(["the river the boat"]) == [made.encode(["the river"])[0]]
    assert "made of vocab.txt" in made.note
    (tmp_path / "tokenizer.json").write_text(made.json, encoding="ascii")
    (tmp_path / "vocab.txt").write_bytes(b"\xff")
    read = open_tokenizer(folder, max_seq_length=4)
    assert read.json == made.json
    assert read == made
    assert read.note == ""


def test_a_class_s_own_padding_is_known(tmp_path: Path) -> None:
    """No file names it."""
    assert open_tokenizer(ModelFolder.at(write_old(tmp_path, "XLMRobertaTokenizer"))).pad_id == 1


@pytest.mark.parametrize(
    ("name", "kind"), [("SiglipTokenizer", "bert"), (None, "siglip"), (None, "siglip_text_model")]
)
def test_a_tokenizer_json_of_other_ids_is_refused(
    name: str | None, kind: str, tmp_path: Path
) -> None:
    """One that is published beside a class whose texts SentencePiece normalises."""
    write_tokenizer(tmp_path)
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": name})
    write_json(tmp_path / "config.json", {"model_type": kind})
    with pytest.raises(InputError, match="SiglipTokenizer, is Python code of transformers that no"):
        open_tokenizer(ModelFolder.at(tmp_path))


def test_the_folder_with_a_tokenizer_is_found(tmp_path: Path) -> None:
    """A tokenizer.json wins; without any the first folder is told to lack it."""
    names = ("first", "second", "third")
    for name in names:
        (tmp_path / name).mkdir()
    folders = [ModelFolder.at(tmp_path / name) for name in names]
    assert with_tokenizer(folders) is folders[0]
    write_old(tmp_path / "second", "BertTokenizer")
    assert with_tokenizer(folders) is folders[1]
    write_tokenizer(tmp_path / "third")
    assert with_tokenizer(folders) is folders[2]
