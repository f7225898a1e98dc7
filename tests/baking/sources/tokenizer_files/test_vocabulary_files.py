"""Files of vocabularies, whole and damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polybake.baking.sources.tokenizer_files import vocabulary_files
from polybake.baking.sources.tokenizer_files.sentencepiece_model import read_sentencepiece
from polybake.baking.sources.tokenizer_files.vocabulary_files import (
    read_merges,
    read_vocab_json,
    read_vocab_txt,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


def folder(path: Path, **files: str | bytes) -> ModelFolder:
    """A folder with vocab_txt and others."""
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (path / name.replace("_", ".")).write_bytes(data)
    return ModelFolder.at(path)


def test_a_line_is_a_token(tmp_path: Path) -> None:
    """White space behind a token is none of it; separators of Unicode are characters."""
    given = "[PAD]\r\nthe \n\n\u2028x\n##a\u3000\n\nb\x85c\x1c\n\n\n"
    expected = {"[PAD]": 0, "the": 1, "": 5, "\u2028x": 3, "##a": 4, "b\x85c\x1c": 6}
    assert read_vocab_txt(folder(tmp_path, vocab_txt=given)) == expected


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"", "has no token"),
        (b"\n \n", "has no token"),
        (b"a\nb\na\n", "'a' stands in lines 1 and 3, expected each token once"),
        (b"a\nb\na  \n", "'a' stands in lines 1 and 3"),
        (b"a\n\xff\n", "byte 2 is no UTF-8"),
        (b"a" * 1025, "a token has 1025 characters, expected at most 1024"),
        (b"version https://git-lfs.github.com/spec/v1\n", "pointer of Git LFS.*git lfs pull"),
    ],
)
def test_a_damaged_list_is_refused(content: bytes, shown: str, tmp_path: Path) -> None:
    """The message names what is wrong."""
    with pytest.raises(InputError, match=rf"vocab\.txt: .*{shown}"):
        read_vocab_txt(folder(tmp_path, vocab_txt=content))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"{}", "no object of ids"),
        (b"3", "no object of ids"),
        (b'["a"]', "'a' has the id None, expected a whole number from 0 to 0"),
        (b'{"a": 0', "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"\xff": 0}', "is no JSON"),
        (b'{"a": 0, "b": 0}', "'a' and 'b' have the id 0, expected one token for each"),
        (b'{"a": 0, "a": 1}', "a token twice"),
        (b'{"a": 0, "b": 2}', "'b' has the id 2, expected a whole number from 0 to 1"),
        (b'{"a": -1}', "'a' has the id -1"),
        (b'{"a": true}', "'a' has the id True"),
        (b'{"a": 0.0}', "'a' has the id 0.0"),
        (b'{"a": 1e999}', "'a' has the id inf"),
        (b'{"a": {"b": 0}}', "'a' has the id"),
        (rb'{"\ud800": 0}', r"'\\+ud800' has half of a surrogate pair"),
        (b'{"' + b"a" * 1025 + b'": 0}', "a token has 1025 characters"),
    ],
)
def test_a_damaged_object_is_refused(content: bytes, shown: str, tmp_path: Path) -> None:
    """Ids count from 0 without gaps, each once."""
    with pytest.raises(InputError, match=rf"vocab\.json: .*{shown}"):
        read_vocab_json(folder(tmp_path, vocab_json=content))


IDS = {token: number for number, token in enumerate(("a", "b", "ab", "#", "a#", "#version"))}


def test_merges_stand_in_order(tmp_path: Path) -> None:
    """A version is none; a merge of the character that it begins with is one."""
    given = "#version: 0.2\na b\r\na #\n\n"
    assert read_merges(folder(tmp_path, merges_txt=given), IDS) == [("a", "b"), ("a", "#")]


@pytest.mark.parametrize("line", ["a", "a  b", "a b b", "a\tb", "b a", "a c", " ab", "", "# a"])
def test_a_broken_merge_is_refused(line: str, tmp_path: Path) -> None:
    """The message names the line."""
    broken = folder(tmp_path, merges_txt=f"#version: 0.2\n{line}\na b\n")
    with pytest.raises(InputError, match=r"merges\.txt: line 2 is .*, expected two tokens"):
        read_merges(broken, IDS)


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by its bytes nor by its tokens."""
    monkeypatch.setattr(vocabulary_files, "MOST_TOKENS", 4)
    words = folder(tmp_path, vocab_txt="a\nb\nc\nd\ne\nf", vocab_json='{"a": 0}' + " :" * 9)
    with pytest.raises(InputError, match=r"vocab\.txt: has more than 4 lines"):
        read_vocab_txt(words)
    with pytest.raises(InputError, match=r"vocab\.json: has more than 4 tokens"):
        read_vocab_json(words)
    monkeypatch.setattr(vocabulary_files, "MOST_BYTES", 10)
    with pytest.raises(InputError, match=r"has 11 bytes, expected at most 10"):
        read_vocab_txt(words)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("vocab.txt", read_vocab_txt),
        ("vocab.json", read_vocab_json),
        ("spiece.model", lambda folder: read_sentencepiece(folder, "spiece.model", "Unigram")),
    ],
)
def test_a_link_out_of_the_folder_is_refused(
    name: str, read: Callable[[ModelFolder], object], tmp_path: Path
) -> None:
    """No file outside the model's folder is read."""
    (tmp_path / "secret").write_text('{"a": 0}')
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / name).symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="outside the model's folder"):
        read(ModelFolder.at(tmp_path / "model"))
