"""Keep the integers of a model in a file while its graph is made."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.errors import InputError


def in_file(integers: NDArray[Any], folder: Path) -> NDArray[Any]:
    """Return the same integers, mapped from a new file in ``folder``: they take no memory."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".integers", delete=False) as file:
            integers.tofile(file)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror or error}); make room for "
            f"{integers.nbytes} bytes, or name another folder in TMPDIR"
        ) from error
    return np.memmap(file.name, integers.dtype, "r", shape=integers.shape)
