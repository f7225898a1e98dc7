"""The files that a step specification names.

NumPy arrays, modules in the source's folder, ONNX fragments, and the user's own Python.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from inspect import isfunction
from pathlib import Path
from typing import get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.recipe.saved_modules import MODULES
from polybake.steps import Cnn, Lstm, OnnxFragment, PythonFile, Step
from polybake.steps.onnx_fragment import Fragment
from polybake.steps.python_file import Script


def read_files(
    where: str, step: type[Step], values: Mapping[str, object], *, base: Path, model: ModelFolder
) -> dict[str, object]:
    """Put what the files hold in the place of their names.

    Args:
        where: The specification's key path, such as ``steps[2]``.
        step: Whose arrays are given as ``.npy`` files, or all together as ``source``: a folder
            that sentence-transformers saved a module in.
        values: The specification's parameters.
        base: The folder that paths of ``.npy``, ``.onnx`` and ``.py`` files are relative to.
        model: The folder that ``source`` is relative to.

    Raises:
        InputError: a file is missing, damaged, or does not hold what the step takes.
    """
    if step in MODULES and "source" in values:
        for other in values.keys() - {"source"}:
            raise InputError(f"{where}.{other}: stands beside source, which gives it; drop one")
        key = f"{where}.source"
        return MODULES[step](key, model.inner(_path(key, values["source"])))
    if step in (Cnn, Lstm):
        raise InputError(f"{where}.source: is missing; name a folder inside the model's folder")
    if step in _FILES and "file" in values:
        key = f"{where}.file"
        path = base / _path(key, values["file"])
        if not path.is_file():
            raise InputError(f"{key}: {path} is no file; {_REMEDIES[step]}")
        return {**values, "file": _FILES[step](key, path, model)}
    arrays = {name for name, field in step.model_fields.items() if _is_array(field.annotation)}
    return {
        key: _array(f"{where}.{key}", value, base) if key in arrays else value
        for key, value in values.items()
    }


def _is_array(annotation: object) -> bool:
    return get_origin(annotation) is np.ndarray or any(map(_is_array, get_args(annotation)))


def _array(where: str, value: object, base: Path) -> NDArray[np.float32]:
    path = base / _path(where, value)
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # a damaged header fails wherever Python's own parser does
        reason = " ".join(str(error).split())
        raise InputError(
            f"{where}: {path} cannot be read as a NumPy array ({reason}); write it with numpy.save"
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise InputError(f"{where}: {path} holds no array of numbers; write it with numpy.save")
    return array.astype(np.float32)


def _path(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where}: expected a path, found {value!r}")
    return value


def _fragment(where: str, path: Path, model: ModelFolder) -> Fragment:  # noqa: ARG001 - as _script
    """Read an ONNX graph."""
    from polybake.graph.external_data import load_model

    try:
        proto = load_model(path)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    try:
        return Fragment.of(path.name, proto)
    except ValueError as error:
        raise InputError(f"{where}: {path} {error}") from error


def _script(where: str, path: Path, model: ModelFolder) -> Script:
    """Run a Python file of the user's own and keep its functions; a model's is never run."""
    if any(path.resolve().is_relative_to(root) for root in model.roots):
        raise InputError(
            f"{where}: {path} lies in the model's folder, from which no code is run; "
            "read it, and move it to a folder of your own"
        )
    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{where}: {path} raised {reason}; correct it") from error
    functions = {name: value for name, value in names.items() if isfunction(value)}
    return Script(path.name, functions)


_FILES: dict[type[Step], Callable[[str, Path, ModelFolder], Fragment | Script]] = {
    OnnxFragment: _fragment,
    PythonFile: _script,
}

_REMEDIES: dict[type[Step], str] = {
    OnnxFragment: "name an .onnx file",
    PythonFile: "write one with: polybake init --step FILE",
}
