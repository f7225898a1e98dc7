"""Every error a user can meet, by the exit code it ends a command with.

Each message names the value, what was expected, and the remedy, in one line.
"""


class PolybakeError(Exception):
    """Base of all errors that a user can cause or mend."""

    exit_code: int = 2


class InputError(PolybakeError):
    """A file, an option or a value is not what was expected (exit code 2)."""


class CheckFailed(PolybakeError):
    """A verdict: drift, a failed proof, stale files (exit code 1)."""

    exit_code = 1


class RunFailed(CheckFailed):
    """A graph fails on what it is fed."""


class RequirementMissing(PolybakeError):
    """The environment lacks a package, a toolchain or a device (exit code 3)."""

    exit_code = 3


#: The extra of polybake that brings a package.
_EXTRAS = {
    **dict.fromkeys(("onnx", "onnx_ir", "onnxscript", "safetensors", "tokenizers"), "bake,cpu"),
    **dict.fromkeys(("ml_dtypes", "onnxruntime", "tomlkit"), "bake,cpu"),
    **dict.fromkeys(("fastapi", "orjson", "prometheus_client", "starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("fsspec", "s3fs", "aiohttp"), "store"),
    "huggingface_hub": "hub",
    "hypothesis": "bake,cpu,random",
    "matplotlib": "plots",
    "netron": "bake,cpu,view",
    "pyarrow": "parquet",
    "ray": "ray",
    **dict.fromkeys(("pandas", "pyspark"), "spark"),
}


def install(extras: str) -> str:
    """Say how polybake is installed with extras: from a checkout, as no registry has it yet."""
    return f'in a checkout of polybake: pip install ".[{extras}]"'


def missing_package(error: Exception) -> RequirementMissing | None:
    """Return what to install if the failed import is of a package in an extra, else None."""
    name = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    package = (name or "").partition(".")[0]
    if package not in _EXTRAS:
        return None
    return RequirementMissing(f"this needs the package {package}; {install(_EXTRAS[package])}")
