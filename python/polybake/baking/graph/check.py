"""Check a graph before it is written."""

from pathlib import Path

import onnx
from onnx_ir.passes.common import CheckerPass
from onnxscript import ir

from polybake.baking.graph.ir_version import lower_ir_version
from polybake.errors import CheckFailed


def check_graph(model: ir.Model, name: str | Path = "the graph") -> None:
    """Check structure, shapes, and every node against its operator's schema at the opset.

    Of large weights only types and shapes are checked. The graph is given the IR version that it
    is written with.
    """
    lower_ir_version(model)
    try:
        CheckerPass(full_check=True)(model)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        reason = " ".join(str(error).split())
        raise CheckFailed(
            f"{name}: the baked graph is not valid ONNX: {reason}; mend the step, or export the "
            "encoder again, that gave this operator"
        ) from error
    except ir.serde.SerdeError as error:
        raise _cause(error) from error


def _cause(error: BaseException) -> BaseException:
    """Return the error that onnx-ir wrapped, once for each part around the tensor."""
    while isinstance(error, ir.serde.SerdeError) and error.__cause__ is not None:
        error = error.__cause__
    return error
