"""Open a graph that a bake wrote for itself."""

from pathlib import Path

import onnx
import onnxruntime as ort

from polybake.baking.graph.skeleton import read_skeleton
from polybake.runtime.session import open_session

#: A weight of so many bytes may lie beside its graph.
_SMALL = 4096


def open_written(
    path: Path, *, threads: int, name: str | None = None, fused: bool = True
) -> ort.InferenceSession:
    """Open the graph at ``path``; weights that lie beside it stay in their file.

    So a bake takes no more memory than a few of a model's weights do.
    """
    weights = read_skeleton(path, _SMALL).graph.initializer
    lean = any(weight.data_location == onnx.TensorProto.EXTERNAL for weight in weights)
    return open_session(path, threads=threads, name=name, fused=fused, lean=lean)
