"""PyTorch's classes that settings name; none is imported."""

#: Activations, which in lower case are ours.
_ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU")
#: Where PyTorch has these classes; elsewhere it has others of the same names.
_PACKAGES = ("torch.nn", "torch.nn.modules.activation", "torch.nn.modules.linear")


def activation_of(path: str) -> str:
    """Our name of an activation.

    Raises:
        ValueError: it is another class.
    """
    package, _, name = path.rpartition(".")
    if package in _PACKAGES and name in _ACTIVATIONS:
        return name.lower()
    known = ", ".join(f"torch.nn.{known}" for known in _ACTIVATIONS)
    silent = "" if path.startswith("torch.") else ", which sentence-transformers passes over"
    raise ValueError(
        f"unknown class {path!r}{silent}; name one of {known}, or list the steps in polybake.toml "
        "and compute yours in a python step"
    )
