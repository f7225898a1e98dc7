"""The two layers of BGE-M3 that lie beside its encoder, in files of their own.

Source: FlagEmbedding ``EncoderOnlyEmbedderM3Runner.get_model``.
"""

from functools import partial
from pathlib import Path

from pydantic import ValidationError

from polybake.baking.sources.module_weights import tensors_of
from polybake.baking.sources.source import HeadKind, TaskHead
from polybake.baking.steps import Dense, Hybrid, Normalize, Pool, Step
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import first_fault
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

BGE_M3: HeadKind = "BGE-M3"

#: The files of the layers, and how their names end.
LAYERS = ("sparse_linear", "colbert_linear")
PICKLED, SAFE = ".pt", ".safetensors"

#: The tokens that have no weight. Source: FlagEmbedding ``_process_token_weights``.
_UNWEIGHTED = ("cls_token", "eos_token", "pad_token", "unk_token")


def bge_m3(folder: ModelFolder, tokenizer: BakedTokenizer) -> TaskHead | None:
    """The layers of a folder, or None if one is not there; nothing is read yet."""
    if any(_file(folder, layer) is None for layer in LAYERS):
        return None
    return TaskHead(BGE_M3, partial(_steps, folder, tokenizer))


def readable(folder: ModelFolder) -> bool:
    """Whether both layers are safetensors, or may be read as the pickles that they are."""
    pair = [_file(folder, layer) for layer in LAYERS]
    return folder.settings.pickle == "tensors" or all(file and file.suffix == SAFE for file in pair)


def _file(folder: ModelFolder, layer: str) -> Path | None:
    return folder.file(layer + SAFE) or folder.file(layer + PICKLED)


def _steps(folder: ModelFolder, tokenizer: BakedTokenizer) -> list[Step]:
    """Return the step of the three outputs.

    Source: FlagEmbedding ``EncoderOnlyEmbedderM3ModelForInference``.
    """
    weight, vector = (_layer(folder, layer) for layer in LAYERS)
    if len(weight.weight) != 1:
        raise InputError(
            f"{_file(folder, LAYERS[0])}: gives a token {len(weight.weight)} numbers, expected "
            "one, its weight; download it again"
        )
    return [
        Hybrid(
            dense=(Pool(mode="cls"), Normalize()),
            weight=weight.model_copy(update={"activation": "relu"}),
            unweighted=_unweighted(folder, tokenizer),
            vector=(vector, Normalize()),
        )
    ]


def _layer(folder: ModelFolder, layer: str) -> Dense:
    file = _file(folder, layer)
    if file is None or not readable(folder):
        raise InputError(
            f"{folder.path / (layer + PICKLED)}: is a pickle, which may run code; to read its "
            'tensors and run nothing of it, say pickle = "tensors" below [model] in polybake.toml '
            '(--set model.pickle=tensors), or say task = "embed" for the dense vectors alone'
        )
    try:
        arrays = tensors_of(file, {"weight": "weight", "bias": "bias"})
        return Dense(weight=arrays["weight"], bias=arrays["bias"], activation="identity")
    except ValidationError as error:
        raise InputError(f"{file}: {first_fault(error)}; download it again") from error


def _unweighted(folder: ModelFolder, tokenizer: BakedTokenizer) -> tuple[int, ...]:
    config = TokenizerConfig.of(folder)
    numbers: dict[str, int] = {}
    for key in _UNWEIGHTED:
        token = config.token(key)
        number = None if token is None else tokenizer.id_of(token)
        if number is None:
            raise InputError(
                f"{folder.path / 'tokenizer_config.json'}: {key} = {token!r}, expected a token of "
                "the vocabulary, which has no weight in sparse vectors; name it there"
            )
        numbers[key] = number
    return tuple(sorted({*numbers.values()}))
