"""The files that a step specification names.

NumPy arrays, modules in the source's folder, ONNX fragments, and the user's own Python.
"""

import runpy
from collections.abc import Callable, Mapping, Sequence
from inspect import isfunction
from pathlib import Path
from typing import TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from polybake.baking.graph.external_data import load_model
from polybake.baking.sources.sentence_transformers.saved_modules import SAVED
from polybake.baking.steps import OnnxFragment, PythonFile, Step
from polybake.baking.steps.onnx_fragment import Fragment
from polybake.baking.steps.python_file import Script
from polybake.base.files.fit_record import steps_before
from polybake.base.files.inputs import asked
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.printable import printable
from polybake.errors import InputError

_Read = TypeVar("_Read")


def read_files(
    where: str,
    step: type[Step],
    values: Mapping[str, object],
    *,
    base: Path,
    model: ModelFolder,
    before: Sequence[Step] = (),
) -> dict[str, object]:
    """Replace the names of files by their contents."""
    if step.name in SAVED and "source" in values:
        for other in values.keys() - {"source"}:
            raise InputError(f"{where}.{other}: stands beside source, which gives it; drop one")
        saved = SAVED[step.name]
        return _read(where, values, "source", lambda name: saved.parameters(model.inner(name)))
    annotations = {name: field.annotation for name, field in step.model_fields.items()}
    result = dict(values)
    for key in values:
        if key in annotations and _is_array(annotations[key]):
            result[key] = _read(where, values, key, lambda name: _array(asked(base / name), before))
        elif key == "file" and step in _FILES:
            result[key] = _read(
                where, values, key, lambda name: _FILES[step](asked(base / name), model)
            )
    return result


def _read(
    where: str, values: Mapping[str, object], key: str, reader: Callable[[str], _Read]
) -> _Read:
    """Read the file that a key names; an error begins with the key."""
    name = values[key]
    try:
        if not isinstance(name, str):
            raise ValueError(f"expected a path, found {name!r}")
        return reader(name)
    except (InputError, ValueError) as error:
        raise InputError(f"{where}.{key}: {error}") from error


def _is_array(annotation: object) -> bool:
    return get_origin(annotation) is np.ndarray or any(map(_is_array, get_args(annotation)))


def _array(path: Path, before: Sequence[Step]) -> NDArray[np.float32]:
    fitted, steps = steps_before(path), tuple(map(str, before))
    if fitted is not None and fitted != steps:
        raise ValueError(
            f"{path} was fitted to the vectors behind {_shown(fitted)}, and stands behind "
            f"{_shown(steps)}; move the step, or bake without it and fit again"
        )
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # a damaged header fails wherever Python's own parser does
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read as a NumPy array ({reason}); write it with numpy.save"
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise ValueError(f"{path} holds no array of numbers; write it with numpy.save")
    return array.astype(np.float32)


def _shown(steps: Sequence[str]) -> str:
    return printable(" -> ".join(steps)) or "the encoder"


def _fragment(path: Path, model: ModelFolder) -> Fragment:  # noqa: ARG001 - as _script
    """Read an ONNX graph."""
    if not path.is_file():
        raise ValueError(f"{path} is no file; name an .onnx file")
    proto = load_model(path)
    try:
        return Fragment.of(path.name, proto)
    except ValueError as error:
        raise ValueError(f"{path} {error}") from error


def _script(path: Path, model: ModelFolder) -> Script:
    """Run a Python file of the user's own and keep its functions; a model's is never run."""
    if not path.is_file():
        raise ValueError(f"{path} is no file; write one with: polybake init --step FILE")
    if any(path.resolve().is_relative_to(root) for root in model.roots):
        raise ValueError(
            f"{path} lies in the model's folder, from which no code is run; "
            "read it, and move it to a folder of your own"
        )
    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"{path} raised {reason}; correct it") from error
    functions = {name: value for name, value in names.items() if isfunction(value)}
    return Script(path.name, functions)


_FILES: dict[type[Step], Callable[[Path, ModelFolder], Fragment | Script]] = {
    OnnxFragment: _fragment,
    PythonFile: _script,
}
