"""The activations of a Dense module."""

from __future__ import annotations

import pytest

from polybake.errors import InputError
from polybake.recipe.activation_classes import activation


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("torch.nn.ReLU", "relu"),
        ("torch.nn.modules.activation.GELU", "gelu"),
        ("torch.nn.modules.linear.Identity", "identity"),
    ],
)
def test_classes_of_pytorch(path: str, name: str) -> None:
    """A class is known by where PyTorch defines it and where it is imported from."""
    assert activation("1_Dense", {"activation_function": path}) == name


def test_a_module_that_names_none() -> None:
    """Tanh is the module's own default."""
    assert activation("1_Dense", {}) == "tanh"


@pytest.mark.parametrize(
    ("path", "silent"),
    [
        ("mine.Tanh", True),
        ("Sigmoid", True),
        ("torch.nn.LeakyReLU", False),
        ("torch.ao.nn.quantized.Sigmoid", False),
        (None, False),
    ],
)
def test_refuses_other_classes(path: object, silent: bool) -> None:
    """The last name alone says nothing; where the library takes Tanh instead, this is said."""
    with pytest.raises(InputError, match="1_Dense: unknown activation_function") as raised:
        activation("1_Dense", {"activation_function": path})
    assert ("silently takes for Tanh" in str(raised.value)) is silent
    assert "known are: torch.nn.Identity" in str(raised.value)
