"""The tokenizer.json that transformers makes of older files, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from models.folders.old_tokenizers import OLD, write_old
from models.folders.tiny_folders import write_json, write_tokenizer
from polybake.baking.tokenizer import older_vocabularies
from polybake.baking.tokenizer import older_vocabularies_program as program
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer, with_tokenizer
from polybake.baking.tokenizer.older_vocabularies import convert
from polybake.base.files.model_folder import ModelFolder, SourceSettings
from polybake.errors import InputError, RequirementMissing
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "pad"),
    weekly_but(
        1,
        [
            ("BertTokenizer", "[UNK]"),
            ("RobertaTokenizer", "<pad>"),
            ("T5Tokenizer", "<pad>"),
            ("LlamaTokenizer", "</s>"),
            ("GemmaTokenizer", "<pad>"),
        ],
    ),
)
def test_each_kind_of_file_gives_a_tokenizer(name: str, pad: str, tmp_path: Path) -> None:
    """Limit, padding and ids; a tokenizer.json beside the files is all that is read."""
    folder = ModelFolder.at(write_old(tmp_path, name, pad_token=pad))
    made = open_tokenizer(folder, max_seq_length=9)
    assert (made.max_length, made.token(made.pad_id), made.differs) == (9, pad, None)
    assert f"made it of {' and '.join(files(tmp_path))}, as {name}" in made.note
    if name == "BertTokenizer":
        tokens = (tmp_path / "vocab.txt").read_text("utf-8").split("\n")
        expected = [tokens.index(token) for token in ("[CLS]", "the", "water", "[SEP]")]
        assert made.encode(["the water"]) == [expected]
    (tmp_path / "tokenizer.json").write_text(made.json, encoding="ascii")
    for file in files(tmp_path):
        (tmp_path / file).write_bytes(b"\xff")
    read = open_tokenizer(folder, max_seq_length=9)
    assert (read.json, read.note) == (made.json, "")


def files(folder: Path) -> list[str]:
    return [name for name in older_vocabularies.VOCABULARIES if (folder / name).exists()]


@pytest.mark.parametrize(
    ("declared", "config", "shown"),
    [
        (None, {}, "no file says the class of its tokenizer; name the class .* tokenizer_class"),
        ("PreTrainedTokenizerFast", {"model_type": "bert"}, "no file says the class"),
        ("BertTokenizer", {"model_type": "modernbert"}, "no file says the class"),
        ("os.system", {}, "no file says the class"),
        ("BertJapaneseTokenizer", {}, "BertJapaneseTokenizer, is Python code"),
    ],
)
def test_a_class_that_makes_none_is_refused(
    declared: str | None, config: dict[str, str], shown: str, tmp_path: Path
) -> None:
    """Before anything is run, and whatever keys of its own it has."""
    own = {"mecab_kwargs": {"mecab_dic": "unidic_lite"}}
    write_old(tmp_path, "BertTokenizer", tokenizer_class=declared, **own)
    write_json(tmp_path / "config.json", config)
    with pytest.raises(InputError, match=shown):
        convert(ModelFolder.at(tmp_path))


@pytest.mark.weekly
def test_the_files_are_of_one_vocabulary(tmp_path: Path) -> None:
    """None, two of which transformers would choose one, or none of the class's."""
    with pytest.raises(InputError, match=r"none of vocab\.txt, .* of which transformers makes one"):
        convert(ModelFolder.at(tmp_path))
    OLD["LlamaTokenizer"].write(write_old(tmp_path, "T5Tokenizer"))
    with pytest.raises(InputError, match=r"has spiece\.model and tokenizer\.model, .*; remove"):
        convert(ModelFolder.at(tmp_path))
    write_old(tmp_path / "pieces", "T5Tokenizer", tokenizer_class="BertTokenizer")
    with pytest.raises(InputError, match=r"and no vocab\.txt of which BertTokenizer makes one; do"):
        convert(ModelFolder.at(tmp_path / "pieces"))


#: Files that say other tokens than the vocabulary.
OTHER_TOKENS = [
    ("BertTokenizer", "added_tokens", {"the": 0}, "'the' has the id 0 in its files, and"),
    (
        "XLMRobertaTokenizer",
        "special_tokens_map",
        {"additional_special_tokens": ["<x>"]},
        "'<x>', expected one of tokenizer.json",
    ),
]


@pytest.mark.parametrize(
    ("name", "file", "settings", "shown"),
    [
        ("BertTokenizer", "", {"do_basic_tokenize": False}, "do_basic_tokenize: .* found false"),
        ("BertTokenizer", "", {"never_split": ["the"]}, "never_split: .*at most 0 items"),
        ("BertTokenizer", "", {"clean_text": False}, "clean_text: Input should be true"),
        ("BertTokenizer", "", {"wordpieces_prefix": "@@"}, "wordpieces_prefix: .*'##', found '@@'"),
        ("BertTokenizer", "", {"sp_model_kwargs": {"alpha": 1}}, "sp_model_kwargs: .*0 items"),
        ("BertTokenizer", "", {"remove_space": False}, "remove_space: Input should be true"),
        ("BertTokenizer", "", {"extra_ids": 1001}, "extra_ids: .*or equal to 1000"),
        ("LlamaTokenizer", "", {"add_bos_token": None}, "no add_bos_token, which transformers 4"),
        *weekly_but(0, OTHER_TOKENS),
    ],
)
def test_what_is_not_obeyed_is_refused(
    name: str, file: str, settings: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """A model has a row for each id, so no token moves in silence."""
    write_old(tmp_path, name, **({} if file else settings))
    if file:
        write_json(tmp_path / f"{file}.json", settings)
    with pytest.raises(InputError, match=shown):
        open_tokenizer(ModelFolder.at(tmp_path))


#: What spiece.model holds, and the message.
DAMAGED = [
    (b"version https://git-lfs.github.com/spec/v1\n", "pointer of Git LFS; run: git lfs pull"),
    (bytes(101), "has 101 bytes, expected at most 100; download it again"),
    (b"hello world", "transformers makes no tokenizer of spiece.model as T5Tokenizer .*downl"),
]


@pytest.mark.parametrize(("content", "shown"), weekly_but(2, DAMAGED))
def test_damaged_files_are_refused(
    content: bytes, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's reason stands in one line."""
    monkeypatch.setattr(older_vocabularies, "_LARGEST", 100)
    (write_old(tmp_path, "T5Tokenizer") / "spiece.model").write_bytes(content)
    with pytest.raises(InputError, match=shown) as raised:
        convert(ModelFolder.at(tmp_path))
    assert str(raised.value).isprintable()


def test_a_process_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended."""
    monkeypatch.setattr(older_vocabularies, "_SECONDS", 0.01)
    with pytest.raises(InputError, match=r"BertTokenizer \(it took more than 0\.01 seconds\)"):
        convert(ModelFolder.at(write_old(tmp_path, "BertTokenizer")))


@pytest.mark.weekly
def test_the_json_is_compared_with_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that does more than its tokenizer.json is not baked in silence."""
    answer = older_vocabularies._answer

    def other(*given: Any) -> Any:
        found = answer(*given)
        return found.model_copy(update={"ids": [*found.ids[:-1], [1]]})

    folder = ModelFolder.at(write_old(tmp_path, "BertTokenizer"))
    monkeypatch.setattr(older_vocabularies, "_answer", other)
    with pytest.raises(InputError, match=r"gives 'camelCase .* other ids than its class"):
        convert(folder)


@pytest.mark.parametrize(
    ("versions", "shown"),
    [
        ({"sentencepiece": "0.2"}, "the package transformers makes one"),
        ({"transformers": "5.23.0"}, "the package sentencepiece makes one"),
        ({"transformers": "4.57.6", "sentencepiece": "0.2"}, "5 or later makes one, found 4.57.6"),
    ],
)
def test_what_is_missing_is_named_with_the_command(
    versions: dict[str, str], shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra of polybake, without PyTorch."""

    def version(package: str) -> str:
        if package not in versions:
            raise PackageNotFoundError(package)
        return versions[package]

    monkeypatch.setattr(older_vocabularies, "version", version)
    command = r'pip install "\.\[bake,cpu,convert\]"'
    with pytest.raises(RequirementMissing, match=rf"of vocab\.txt .*{shown}; .*{command}"):
        convert(ModelFolder.at(write_old(tmp_path, "BertTokenizer")))


TRAPS = {
    "socket": "import socket; socket.create_connection(('127.0.0.1', 9))",
    "name": "import socket; socket.getaddrinfo('localhost', 80)",
    "program": "import subprocess; subprocess.run(['true'])",
    "shell": "import os; os.system('true')",
}


@pytest.mark.parametrize("name", TRAPS)
def test_nothing_is_fetched_or_started(name: str, tmp_path: Path) -> None:
    """By a library that stands in for transformers, in the process as it is run."""
    package = tmp_path / "transformers"
    package.mkdir()
    (package / "__init__.py").write_text(TRAPS[name], "utf-8")
    command = [
        sys.executable,
        "-P",
        program.__file__,
        str(tmp_path),
        "answer.json",
    ]
    given = {"PYTHONPATH": str(tmp_path)}
    subprocess.run(command, input=b"[]", env=given, cwd=tmp_path, check=True)
    answer = json.loads((tmp_path / "answer.json").read_text("utf-8"))
    assert answer["error"].startswith("PermissionError: ")
    assert answer["error"].endswith("is refused here")


def test_no_code_and_no_path_of_a_model_is_passed_on(tmp_path: Path) -> None:
    """Not even where the user says that a tokenizer's own code changes nothing."""
    code = {"AutoTokenizer": ["own.Tokenizer", None]}
    settings = {"auto_map": code, "vocab_file": "/etc/passwd", "mask_token": "[MASK]"}
    write_old(tmp_path, "BertTokenizer", **settings)
    (tmp_path / "own.py").write_text("open('ran', 'w')", "utf-8")
    folder = ModelFolder.at(tmp_path, SourceSettings(allow_unknown=("auto_map.AutoTokenizer",)))
    assert older_vocabularies._settings(folder, "BertTokenizer") == {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": 60,
        "mask_token": "[MASK]",
    }


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
