"""PyTorch's classes that settings name; they are not imported."""

#: PyTorch's activations; our names are the same in lower case.
_ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU")
#: The packages of these classes; elsewhere PyTorch has other classes of the same names.
_PACKAGES = ("torch.nn", "torch.nn.modules.activation", "torch.nn.modules.linear")


def activation_of(path: str) -> str:
    """Return our name of an activation."""
    package, _, name = path.rpartition(".")
    if package in _PACKAGES and name in _ACTIVATIONS:
        return name.lower()
    known = ", ".join(f"torch.nn.{key}" for key in _ACTIVATIONS)
    silent = "" if path.startswith("torch.") else ", which sentence-transformers passes over"
    raise ValueError(
        f"unknown class {path!r}{silent}; name one of {known}, or list the steps in polybake.toml "
        "and compute yours in a python step"
    )
