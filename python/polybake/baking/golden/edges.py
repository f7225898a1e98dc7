"""Find the elements of quantized embeddings at an edge, where rounding decides."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np
import onnx.utils
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.baking.graph.skeleton import read_skeleton
from polybake.base.modelfile.manifest import UNQUANTIZED, Output
from polybake.base.modelfile.tolerance import Slack, Tolerance
from polybake.runtime.session import open_session

#: More bytes than the ranges of any quantization have, and fewer than any table or matrix.
_LARGEST_RANGES = 1 << 20


class Edges:
    """The quantization of a model file, cut out of its graph.

    A value within the tolerance of the edge of two steps is rounded to either, depending on the
    order of a runtime's additions. Quantizing a little below and above finds such values.
    """

    def __init__(
        self, session: ort.InferenceSession, output: Output, tolerances: Mapping[str, Tolerance]
    ) -> None:
        """Take the session of a quantization."""
        self._session = session
        self._output = output
        self._rounding = np.float32(max(tolerance.max_abs for tolerance in tolerances.values()))

    @classmethod
    def of(cls, path: Path, output: Output, tolerances: Mapping[str, Tolerance]) -> Self | None:
        """Cut the quantization out of the ONNX file at ``path``; None without quantization."""
        if output.dtype == "float32":
            return None
        graph = read_skeleton(path, _LARGEST_RANGES)
        part = onnx.utils.Extractor(graph).extract_model([UNQUANTIZED], [output.name])
        onnx.load_external_data_for_model(part, str(path.parent))
        return cls(open_session(part.SerializeToString(), threads=1), output, tolerances)

    def slack(self, unquantized: NDArray[np.float32]) -> Slack:
        """How far a client may lie from the quantization of float32 ``[texts, dimension]``."""
        norms = np.linalg.norm(unquantized, axis=1, keepdims=True)
        rounding = self._rounding * np.maximum(norms, 1)
        lowest, highest = (
            self._session.run([self._output.name], {UNQUANTIZED: unquantized + sign * rounding})[0]
            for sign in (np.float32(-1), np.float32(1))
        )
        return Slack.between(lowest, highest, packed_bits=self._output.packed_bits)
