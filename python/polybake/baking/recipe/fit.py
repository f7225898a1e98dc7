"""What a step of polybake.toml says where a build fits its arrays: ``fit = "corpus.txt"``."""

from collections.abc import Mapping

from pydantic import PositiveInt, ValidationError

from polybake.base.files.validation import first_fault
from polybake.config import File, Table
from polybake.errors import InputError

#: The keys of each step that a fit gives, and the files of their arrays.
ARRAYS = {
    "subtract": {"vector": "mean.npy"},
    "pca": {"mean": "mean.npy", "components": "components.npy"},
    "whiten": {"mean": "mean.npy", "matrix": "matrix.npy"},
    "remove_components": {"mean": "mean.npy", "components": "top.npy"},
    "quantize": {"ranges": "ranges.npy"},
}

#: The array of each step that has the size which is asked for, and along which axis.
SIZED = {
    "pca": ("components.npy", 0),
    "whiten": ("matrix.npy", 1),
    "remove_components": ("top.npy", 0),
}


class Fit(Table):
    """The texts that a step's arrays are fitted to; a path alone stands for its ``texts``.

    Attributes:
        texts: A .txt file (one text a line), .jsonl, .csv or .parquet.
        size: The components of ``pca`` and ``remove_components``, the elements of ``whiten``.
        column: The texts' column, or their key.
        prompt: The prompt that they are embedded with; None takes the model's default.
    """

    texts: File
    size: PositiveInt | None = None
    column: str = "text"
    prompt: str | None = None


def read_fit(where: str, spec: Mapping[str, object]) -> Fit:
    """Check the ``fit`` of a step's table."""
    step, value = str(spec.get("step")), spec["fit"]
    if step not in ARRAYS:
        raise InputError(
            f"{where}.fit: {step!r} is fitted to no texts; steps that are: {', '.join(ARRAYS)}"
        )
    for key in ARRAYS[step].keys() & spec.keys():
        raise InputError(f"{where}.{key}: stands beside fit, which gives it; drop one")
    try:
        fit = Fit.model_validate({"texts": value} if isinstance(value, str) else value)
    except ValidationError as error:
        raise InputError(f"{where}.fit: {first_fault(error)}; correct it") from error
    if fit.size is None and step in SIZED:
        raise InputError(f'{where}.fit.size: is missing; say fit = {{ texts = "…", size = 256 }}')
    if fit.size is not None and step not in SIZED:
        raise InputError(f"{where}.fit.size: is {fit.size}, and {step!r} has none; drop it")
    return fit
