"""Every error that a user can meet has its exit code and its remedy."""

from __future__ import annotations

import pytest

from polybake.errors import CheckFailed, InputError, RequirementMissing, missing_package


def test_exit_codes_are_those_of_the_protocol() -> None:
    """Verdicts are 1, wrong input is 2, and a lack of the environment is 3."""
    assert [one.exit_code for one in (CheckFailed, InputError, RequirementMissing)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("onnxruntime", "bake,cpu"),
        ("onnx.checker", "bake,cpu"),
        ("huggingface_hub", "hub"),
        ("ray.data", "ray"),
        ("pyspark", "spark"),
        ("hypothesis", "bake,cpu,random"),
    ],
)
def test_a_missing_package_names_the_extra_that_brings_it(name: str, extra: str) -> None:
    """A missing submodule counts as its package."""
    package = name.partition(".")[0]
    error = missing_package(ModuleNotFoundError(name=name))
    assert (
        str(error)
        == f'this needs the package {package}; in a checkout of polybake: pip install ".[{extra}]"'
    )


@pytest.mark.parametrize("error", [ModuleNotFoundError(name="polybake.x"), ValueError("onnx")])
def test_other_faults_are_not_the_users(error: Exception) -> None:
    """A missing module of polybake itself is a bug, not the user's fault."""
    assert missing_package(error) is None
