"""A tokenizer.json that transformers makes of the files that came before it."""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, RootModel
from tokenizers import Tokenizer

from polybake.baking.tokenizer.known_classes import class_of
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.baking.tokenizer.tokenizer_config import SAVE_AGAIN, TokenizerConfig
from polybake.baking.tokenizer.tokenizer_json import TokenizerJson, check_parts
from polybake.baking.tokenizer.version_difference import TEXTS
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.printable import printable
from polybake.base.files.scratch import Scratch, show_in
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError, RequirementMissing, install

#: The files that transformers makes a tokenizer of.
VOCABULARIES = (
    *("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model", "spiece.model"),
    *("spm.model", "tokenizer.model"),
)
#: The one of them that transformers takes before a class's own.
_TAKEN_FIRST = "tokenizer.model"
_CONFIG, _ADDED = "tokenizer_config.json", "added_tokens.json"

#: Far more than any published vocabulary has, in bytes.
_LARGEST = 64 * 2**20
_LFS_POINTER = b"version https://git-lfs"
#: Far more than a conversion takes, with the import of transformers on a busy machine.
_SECONDS = 300
#: The most characters of a reason in a message.
_LONGEST = 300

#: The first major version whose classes make tokenizer.json themselves.
_FIRST_VERSION = 5
_PACKAGES = ("transformers", "sentencepiece")

#: Classes that do what no tokenizer.json does: they run a program for a language's words, read
#: other inputs than texts, or have rules of their own in Python.
_PYTHON_ALONE = (
    "Bartpho BertGeneration BertJapanese Bertweet BioGpt ByT5 Canine CpmAnt CTRL Esm Flaubert FSMT "
    "Luke M2M100 Marian MyT5 Perceiver Phobert ProphetNet RoCBert RoFormer Siglip Tapas XLM"
)
PYTHON_ALONE = frozenset(f"{name}Tokenizer" for name in _PYTHON_ALONE.split())
#: Those of them that are published with a tokenizer.json, which gives other ids: SigLIP's texts are
#: normalised by SentencePiece, which composes what ``tokenizers`` leaves apart or drops.
_OTHER_IDS = frozenset({"SiglipTokenizer"})
#: What stands for a class where no file names one.
_NO_CLASS = ("TokenizersBackend", "PreTrainedTokenizer")


class _Declared(JsonModel):
    """The class of a tokenizer, whatever else its settings say."""

    tokenizer_class: str | None = None


class _Settings(JsonModel):
    """Keys of tokenizer_config.json that count where there is no tokenizer.json.

    A key that takes one value is one that versions of transformers obey in different ways.
    """

    do_basic_tokenize: Literal[True] | None = None
    clean_text: Literal[True] | None = None
    remove_space: Literal[True] | None = None
    wordpieces_prefix: Literal["##"] | None = None
    never_split: list[str] | None = Field(default=None, max_length=0)
    sp_model_kwargs: dict[str, object] | None = Field(default=None, max_length=0)

    extra_ids: int = Field(default=100, ge=0, le=1000)
    legacy: bool | None = None
    trim_offsets: bool = True


class _Object(RootModel[dict[str, object]]):
    """A JSON object."""


class _Ids(RootModel[dict[str, int]]):
    """added_tokens.json: ids by token."""

    root: dict[str, int] = {}


class _Answer(JsonModel):
    """What the process writes, whose program is `older_vocabularies_program.py`."""

    error: str = ""
    fast: bool = False
    files: list[str] = Field(default_factory=list)
    tokenizer: str = ""
    ids: list[list[int]] = Field(default_factory=list)


def check_tokenizer_json(folder: ModelFolder) -> None:
    """Refuse a folder's tokenizer.json that gives other ids than the class of its tokenizer."""
    _refuse_python(folder, _class(folder), _OTHER_IDS)


def convert(folder: ModelFolder) -> tuple[TokenizerJson, str]:
    """Let transformers make the tokenizer.json of a folder that has none; return it and a note."""
    # The class is asked first: such a tokenizer has keys that no other has.
    name = _class(folder)
    _refuse_python(folder, name, PYTHON_ALONE)
    files = {file: path for file in VOCABULARIES if (path := folder.file(file)) is not None}
    listed = " and ".join(files)
    if not files:
        raise InputError(
            f"{folder.path}: has no tokenizer.json, and none of {', '.join(VOCABULARIES)} of which "
            "transformers makes one; download it, too"
        )
    if _TAKEN_FIRST in files and len(files) > 1:
        raise InputError(
            f"{folder.path}: has {listed}, and a tokenizer is made of one vocabulary; remove the "
            "one that the model was not trained with"
        )
    if name in _NO_CLASS or not name.isalnum():
        raise InputError(
            f"{folder.path}: has {listed} and no tokenizer.json, and no file says the class of its "
            "tokenizer; name the class that the model was trained with as tokenizer_class in "
            f"{_CONFIG}"
        )
    config = TokenizerConfig.of(folder)
    if _TAKEN_FIRST in files and config.add_bos_token is None:
        raise InputError(
            f"{folder.path}: has no tokenizer.json, and {_CONFIG} no add_bos_token, which "
            "transformers 4 takes for true and 5 for false; set it to what the model was trained "
            "with"
        )
    maker = f"transformers {_version(folder, listed)}"
    answer = _answer(folder, name, files, listed)
    if missing := [file for file in answer.files if file in VOCABULARIES and file not in files]:
        raise InputError(
            f"{folder.path}: has no tokenizer.json, and no {' and '.join(missing)} of which {name} "
            "makes one; download one or the other, too"
        )
    data = TokenizerJson.model_validate_json(answer.tokenizer)
    check_parts(data, folder.path)
    _check(folder, data, answer)
    sources = " and ".join(file for file in files if file in answer.files) or listed
    return data, f"{folder.path} has no tokenizer.json; {maker} made it of {sources}, as {name}"


def _class(folder: ModelFolder) -> str:
    declared = TokenizerConfig(tokenizer_class=folder.read(_CONFIG, _Declared).tokenizer_class)
    return class_of(declared, ModelConfig.of(folder))


def _refuse_python(folder: ModelFolder, name: str, refused: frozenset[str]) -> None:
    if name in refused:
        raise InputError(
            f"{folder.path}: its tokenizer, {name}, is Python code of transformers that no "
            "tokenizer.json stands in for; take a model with another tokenizer"
        )


def _version(folder: ModelFolder, listed: str) -> str:
    """Return the version of transformers, which may be missing or too old."""
    needed = f"{folder.path}: has no tokenizer.json, and of {listed}"
    try:
        installed, _ = (version(package) for package in _PACKAGES)
    except PackageNotFoundError as error:
        raise RequirementMissing(
            f"{needed} the package {error.name} makes one; {install('bake,cpu,convert')}"
        ) from error
    if int(installed.partition(".")[0]) < _FIRST_VERSION:
        raise RequirementMissing(
            f"{needed} transformers {_FIRST_VERSION} or later makes one, found {installed}; "
            f"{install('bake,cpu,convert')}"
        )
    return installed


def _answer(folder: ModelFolder, name: str, files: dict[str, Path], listed: str) -> _Answer:
    """Run the conversion in a process that sees these files and the settings of texts alone."""
    with Scratch() as scratch:
        model = Path(scratch) / "model"
        model.mkdir()
        lists = (folder.file(name) for name in ("special_tokens_map.json", _ADDED))
        for path in filter(None, (*files.values(), *lists)):
            if (size := path.stat().st_size) > _LARGEST:
                raise InputError(
                    f"{path}: has {size} bytes, expected at most {_LARGEST}; download it again"
                )
            with path.open("rb") as file:
                if file.read(len(_LFS_POINTER)) == _LFS_POINTER:
                    raise InputError(f"{path}: is a pointer of Git LFS; run: git lfs pull")
            show_in(model / path.name, path)
        (model / _CONFIG).write_text(json.dumps(_settings(folder, name)), encoding="utf-8")
        out = Path(scratch) / "answer.json"
        # With -P neither the working folder nor the program's is searched for modules.
        program = Path(__file__).with_name("older_vocabularies_program.py")
        command = [sys.executable, "-P", str(program), str(model), str(out)]
        offline = dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"), "1")
        environment = {**os.environ, **offline, "HF_HOME": scratch, "USE_TORCH": "0"}
        reason = "it ended early"
        try:
            done = subprocess.run(  # noqa: S603 - this package's own program
                command,
                input=json.dumps(TEXTS).encode(),
                capture_output=True,
                timeout=_SECONDS,
                env=environment,
                cwd=scratch,
            )
            reason = done.stderr.decode("utf-8", "replace").strip()[-_LONGEST:] or reason
        except subprocess.TimeoutExpired:
            reason = f"it took more than {_SECONDS} seconds"
        answer = _Answer(error=reason)
        if out.is_file():
            answer = _Answer.model_validate_json(out.read_bytes())
    if not answer.error and not answer.fast:
        answer.error = f"{name} is Python code that no tokenizer.json stands in for"
    if answer.error:
        raise InputError(
            f"{folder.path}: transformers makes no tokenizer of {listed} as {name} "
            f"({printable(' '.join(answer.error.split())[:_LONGEST])}); download the whole model "
            f"again, or name the class that it was trained with as tokenizer_class in {_CONFIG}"
        )
    return answer


def _settings(folder: ModelFolder, name: str) -> dict[str, object]:
    """Return the keys that turn texts into ids: no code, no paths, nothing that is not known."""
    folder.read(_CONFIG, _Settings, remedy=SAVE_AGAIN)
    config = folder.read(_CONFIG, _Object).root if folder.file(_CONFIG) else {}
    known = (TokenizerConfig.model_fields.keys() | _Settings.model_fields.keys()) - {
        *("auto_map", "chat_template")
    }
    values = {key: config[key] for key in config if key in known or key.endswith("_token")}
    return {**values, "tokenizer_class": name}


def _check(folder: ModelFolder, data: TokenizerJson, answer: _Answer) -> None:
    """Compare the ids of texts, and of the tokens that the folder's files number."""
    tokenizer = Tokenizer.from_str(data.make(folder)[0])
    tokenizer.no_padding()
    encodings = tokenizer.encode_batch(TEXTS)
    for text, encoding, expected in zip(TEXTS, encodings, answer.ids, strict=True):
        if encoding.ids != expected:
            raise InputError(
                f"{folder.path}: the tokenizer.json that transformers makes gives {text!r} other "
                "ids than its class; take a model with another tokenizer"
            )
    for token, number in _numbered(folder).items():
        if (result := tokenizer.token_to_id(token)) != number:
            raise InputError(
                f"{folder.path}: the added token {token!r} has the id {number} in its files, and "
                f"transformers gives it {result}; {SAVE_AGAIN}"
            )


def _numbered(folder: ModelFolder) -> dict[str, int]:
    """Return the ids of added tokens, as one file or the other has them."""
    config: Any = folder.read(_CONFIG, _Object).root if folder.file(_CONFIG) else {}
    decoder = config.get("added_tokens_decoder")
    if decoder is None:
        return folder.read(_ADDED, _Ids).root
    return {token["content"]: int(number) for number, token in decoder.items()}
