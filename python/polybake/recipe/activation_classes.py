"""PyTorch's classes of activations, as sentence-transformers names them; none is imported."""

from __future__ import annotations

from collections.abc import Mapping

from polybake.errors import InputError

_CLASSES = {
    "Identity": "identity",
    "Tanh": "tanh",
    "ReLU": "relu",
    "GELU": "gelu",
    "Sigmoid": "sigmoid",
    "SiLU": "silu",
}

#: Where PyTorch has these classes; elsewhere it has others of the same names.
_MODULES = ("torch.nn", "torch.nn.modules.activation", "torch.nn.modules.linear")


def activation(where: str, config: Mapping[str, object]) -> str:
    """Our name of the function that a Dense module's ``activation_function`` computes.

    Args:
        where: The module, for messages.
        config: The module's config.json.

    Raises:
        InputError: another class.

    Source: sentence-transformers ``Dense.load``, which takes Tanh for any class beyond torch's.
    """
    path = config.get("activation_function", "torch.nn.Tanh")
    module, _, name = str(path).rpartition(".")
    if module in _MODULES and name in _CLASSES:
        return _CLASSES[name]
    known = ", ".join(f"torch.nn.{known}" for known in _CLASSES)
    foreign = isinstance(path, str) and not path.startswith("torch.")
    silent = ", which sentence-transformers silently takes for Tanh" if foreign else ""
    raise InputError(
        f"{where}: unknown activation_function {path!r}{silent}; known are: {known}; name one of "
        "these in config.json, or compute yours in a python step of polybake.toml"
    )
