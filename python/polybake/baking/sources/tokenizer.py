"""The tokenizer of a folder, with a tokenizer.json or the files that came before it."""

from collections.abc import Sequence

from polybake.baking.sources.tokenizer_files.classes import FILES
from polybake.baking.sources.tokenizer_files.made_tokenizer import (
    check_tokenizer_json,
    make_tokenizer,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.runtime.tokenization.tokenizer import BakedTokenizer, bake_tokenizer

_FILE = "tokenizer.json"


def open_tokenizer(
    folder: ModelFolder, *, max_seq_length: int | None = None, lowercase: bool = False
) -> BakedTokenizer:
    """Bake the tokenizer of a model's folder, as `bake_tokenizer` does.

    Raises:
        InputError: As in `bake_tokenizer`, `make_tokenizer` and `check_tokenizer_json`.
    """
    made = None
    if folder.file(_FILE) is None:
        made = make_tokenizer(folder)
    else:
        check_tokenizer_json(folder)
    return bake_tokenizer(
        folder,
        made=None if made is None else made.data,
        note="" if made is None else made.note,
        max_seq_length=max_seq_length,
        lowercase=lowercase,
    )


def with_tokenizer(folders: Sequence[ModelFolder]) -> ModelFolder:
    """The first of some folders with a tokenizer.json, else with older files, else the first."""
    for names in ((_FILE,), FILES):
        for folder in folders:
            if any(folder.file(name) is not None for name in names):
                return folder
    return folders[0]
