"""Every error a user can meet, by its exit code and its remedy."""

from __future__ import annotations

import pytest

from polybake.errors import CheckFailed, InputError, RequirementMissing, missing_package


def test_exit_codes_are_those_of_the_protocol() -> None:
    """A verdict, wrong input, and what the environment lacks."""
    assert [one.exit_code for one in (CheckFailed, InputError, RequirementMissing)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("onnxruntime", "bake,cpu"),
        ("onnx.checker", "bake,cpu"),
        ("huggingface_hub", "hub"),
        ("ray.data", "ray"),
        ("pyspark", "spark"),
    ],
)
def test_a_missing_package_names_the_extra_that_brings_it(name: str, extra: str) -> None:
    """A part of a package is the package's."""
    package = name.partition(".")[0]
    error = missing_package(ModuleNotFoundError(name=name))
    assert (
        str(error)
        == f'this needs the package {package}; in a checkout of polybake: pip install ".[{extra}]"'
    )


@pytest.mark.parametrize("error", [ModuleNotFoundError(name="polybake.x"), ValueError("onnx")])
def test_other_faults_are_not_the_users(error: Exception) -> None:
    """A module of our own that is missing is ours to mend."""
    assert missing_package(error) is None
