"""A file of NumPy with only the vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from polybake.base.texts.window import Window
from polybake.bulk.embed.outputs.output import Output


class NpyOutput(Output):
    """``[rows, dimension]`` of the model's dtype, without the texts."""

    carries = False

    def write_part(
        self,
        file: BinaryIO,
        window: Window,  # noqa: ARG002
        vectors: NDArray[Any],
    ) -> None:
        """Write the vectors of a window."""
        np.save(file, vectors)

    def join(self, file: BinaryIO, parts: Iterable[Path], record: Mapping[str, Any]) -> None:
        """Write the vectors of all parts as one array."""
        header = {
            "descr": npy.dtype_to_descr(np.dtype(self.contract.dtype)),
            "fortran_order": False,
            "shape": (record["texts"]["rows"], self.contract.dimension),
        }
        npy.write_array_header_1_0(file, header)
        for part in parts:
            file.write(np.load(part).data)
