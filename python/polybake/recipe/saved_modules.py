"""The modules that sentence-transformers saved beside an encoder, as parameters of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.recipe.activation_classes import activation
from polybake.steps import Cnn, Dense, LayerNorm, Lstm, Step, WeightedLayerPooling, WordWeights
from polybake.tokenization.word_weights import vocabulary, word_weights

_WEIGHTS = "model.safetensors"


def _dense(where: str, folder: ModelFolder) -> dict[str, object]:
    """Read a Dense module.

    Source: sentence-transformers ``Dense.load``; ``use_residual`` since 5.7.
    """
    config = _settings(where, folder, "config.json")
    function = activation(f"{where}: {folder.path}", config)
    residual = None
    if config.get("use_residual"):
        same = config.get("in_features") == config.get("out_features")
        residual = "identity" if same else "projection"
    names = {
        "weight": "linear.weight",
        "bias": "linear.bias" if config.get("bias", True) else None,
        "residual_weight": "residual.weight" if residual == "projection" else None,
    }
    arrays = _weights(where, folder, {key: name for key, name in names.items() if name})
    for key, size in zip(("out_features", "in_features"), arrays["weight"].shape, strict=False):
        if config.get(key, size) != size:
            raise InputError(
                f"{where}: {folder.path}: {key} = {config[key]!r}, but linear.weight has {size}; "
                "download the module again"
            )
    return {**arrays, "activation": function, "residual": residual}


def _settings(where: str, folder: ModelFolder, name: str) -> dict[str, object]:
    try:
        return folder.needed_settings(name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _layer_norm(where: str, folder: ModelFolder) -> dict[str, object]:
    """Read a LayerNorm module, which always has PyTorch's own eps.

    Source: sentence-transformers ``LayerNorm.load``.
    """
    return {**_weights(where, folder, {"weight": "norm.weight", "bias": "norm.bias"})}


def _cnn(where: str, folder: ModelFolder) -> dict[str, object]:
    """Read a CNN module.

    Source: sentence-transformers ``CNN.load``.
    """
    config = _settings(where, folder, "cnn_config.json")
    strides = config.get("stride_sizes")
    if isinstance(strides, list) and set(strides) - {1}:
        raise InputError(
            f"{where}: {folder.path}: stride_sizes = {strides} leave tokens out; expected only 1"
        )
    return {
        "channels": config.get("out_channels", 256),
        "kernel_sizes": config.get("kernel_sizes", [1, 3, 5]),
        "weights": _tensors(where, folder),
    }


def _lstm(where: str, folder: ModelFolder) -> dict[str, object]:
    """Read an LSTM module.

    Source: sentence-transformers ``LSTM.load``.
    """
    config = _settings(where, folder, "lstm_config.json")
    tensors = _tensors(where, folder)
    return {
        "hidden": config.get("hidden_dim"),
        "layers": config.get("num_layers", 1),
        "bidirectional": config.get("bidirectional", True),
        "weights": {name.removeprefix("encoder."): array for name, array in tensors.items()},
    }


def _word_weights(where: str, folder: ModelFolder) -> dict[str, object]:
    """Read a WordWeights module, which keeps its weights in config.json.

    Source: sentence-transformers ``WordWeights``.
    """
    config = _settings(where, folder, "config.json")
    return {"weights": word_weights(folder, config, vocabulary(folder, config))}


def _weighted_layer_pooling(where: str, folder: ModelFolder) -> dict[str, object]:
    """Read a WeightedLayerPooling module.

    Source: sentence-transformers ``WeightedLayerPooling.load``.
    """
    start = _settings(where, folder, "config.json").get("layer_start", 4)
    return {**_weights(where, folder, {"weights": "layer_weights"}), "layer_start": start}


def _weights(
    where: str, folder: ModelFolder, names: Mapping[str, str]
) -> dict[str, NDArray[np.float32]]:
    """Read exactly the tensors ``names``, each under its key."""
    found = _tensors(where, folder)
    if sorted(found) != sorted(names.values()):
        raise InputError(
            f"{where}: {folder.path / _WEIGHTS} holds {', '.join(sorted(found))}; "
            f"expected {', '.join(sorted(names.values()))}"
        )
    return {key: found[name] for key, name in names.items()}


def _tensors(where: str, folder: ModelFolder) -> dict[str, NDArray[np.float32]]:
    """Read all tensors of a module as float32."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    file = folder.file(_WEIGHTS)
    if file is None:
        raise InputError(
            f"{where}: {folder.path} has no {_WEIGHTS}; save the model again with "
            "sentence-transformers 2.3 or later"
        )
    try:
        return {name: array.astype(np.float32) for name, array in load_file(file).items()}
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{where}: {file} is not a whole safetensors file ({error}); download it again"
        ) from error


#: What reads the folder of a module; its first argument is the key at fault, for messages.
MODULES: dict[type[Step], Callable[[str, ModelFolder], dict[str, object]]] = {
    Cnn: _cnn,
    Dense: _dense,
    LayerNorm: _layer_norm,
    Lstm: _lstm,
    WordWeights: _word_weights,
    WeightedLayerPooling: _weighted_layer_pooling,
}
