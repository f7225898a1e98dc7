"""The tokenizer.json of a folder that has none."""

from collections.abc import Collection
from dataclasses import dataclass

from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.classes import (
    CLASSES,
    FILES,
    OTHER_IDS,
    PYTHON_ALONE,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError
from polybake.runtime.tokenization.known_classes import class_of
from polybake.runtime.tokenization.model_config import ModelConfig
from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig
from polybake.runtime.tokenization.tokenizer_json import TokenizerJson

_CONFIG = "tokenizer_config.json"
#: A file that transformers would take in place of a class's own.
_TAKEN_FIRST = "tokenizer.model"
#: The remedy for files of which only transformers makes a tokenizer.
_WRITE_IT = (
    'write it with: python -c "from transformers import AutoTokenizer as T; '
    "T.from_pretrained('.').save_pretrained('.')\" (run there)"
)


class _Declared(JsonModel):
    """The class of a tokenizer, whatever else its settings say."""

    tokenizer_class: str | None = None


@dataclass(frozen=True)
class MadeTokenizer:
    """A tokenizer.json, and how it came about.

    Attributes:
        data: What transformers would have saved.
        note: A sentence for the user.
    """

    data: TokenizerJson
    note: str


def check_tokenizer_json(folder: ModelFolder) -> None:
    """Check that a folder's tokenizer.json may stand in for the class of its tokenizer.

    Raises:
        InputError: It is known to give other ids.
    """
    _class(folder, OTHER_IDS)


def make_tokenizer(folder: ModelFolder) -> MadeTokenizer:
    """Make it of the files from which transformers 5 makes the folder's tokenizer.

    Raises:
        InputError: The class of the folder's tokenizer is not known, or no tokenizer.json does what
            it does, or a file is missing, damaged, or contradicts the settings.
    """
    # The class is asked first: such a tokenizer has keys that no other has.
    name = _class(folder, PYTHON_ALONE)
    found = [file for file in FILES if folder.file(file) is not None]
    kind = CLASSES.get(name)
    if kind is None:
        beside = f" beside {', '.join(found)}" if found else ""
        known = f", and how {name} makes one of files is not known" if found else ""
        raise InputError(f"{folder.path}: has no tokenizer.json{beside}{known}; {_WRITE_IT}")
    if missing := [file for file in kind.files if file not in found]:
        raise InputError(
            f"{folder.path}: has no tokenizer.json, and no {' and '.join(missing)} of which "
            f"{name} makes one; download one or the other, too"
        )
    if _TAKEN_FIRST in found and _TAKEN_FIRST not in kind.files:
        raise InputError(
            f"{folder.path}: has {_TAKEN_FIRST} beside {' and '.join(kind.files)}, of which "
            f"{name} makes its tokenizer; remove the one that the model was not trained with"
        )
    asked = Asked.of(folder, TokenizerConfig.of(folder), kind.named)
    try:
        made = kind.make(asked)
    except InputError:
        raise
    except Exception as error:  # tokenizers raises bare Exception
        raise InputError(
            f"{folder.path}: {' and '.join(kind.files)} make no tokenizer ({error}); "
            "download the whole model again"
        ) from error
    if pad := asked.named["pad_token"]:
        made.enable_padding(pad_token=pad.content, pad_id=made.token_to_id(pad.content))
    note = f"has no tokenizer.json; it was made of {' and '.join(kind.files)}, as {name} makes it"
    return MadeTokenizer(TokenizerJson.model_validate_json(made.to_str()), f"{folder.path} {note}")


def _class(folder: ModelFolder, refused: Collection[str]) -> str:
    """The class of the folder's tokenizer.

    Raises:
        InputError: It is one of ``refused``.
    """
    declared = TokenizerConfig(tokenizer_class=folder.read(_CONFIG, _Declared).tokenizer_class)
    name = class_of(declared, folder.read("config.json", ModelConfig))
    if name in refused:
        raise InputError(
            f"{folder.path}: its tokenizer, {name}, is Python code of transformers that no "
            "tokenizer.json stands in for; take a model with another tokenizer"
        )
    return name
