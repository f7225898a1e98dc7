"""Check a graph before it is written."""

from __future__ import annotations

import onnx
from onnx_ir.passes.common import CheckerPass
from onnxscript import ir

from polybake.errors import CheckFailed


def check_graph(model: ir.Model) -> None:
    """Check structure, shapes, and every node against its operator's schema at the opset.

    Large weights take no part: only their types and shapes are looked at.

    Raises:
        CheckFailed: onnx's full checker objects.
    """
    try:
        CheckerPass(full_check=True)(model)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        reason = " ".join(str(error).split())
        raise CheckFailed(f"the baked graph is not valid ONNX: {reason}") from error
