"""Load the graph of an ONNX encoder: nothing but computation that every client can run."""

from __future__ import annotations

from pathlib import Path

from onnx_ir.passes.common import ClearMetadataAndDocStringPass, ShapeInferencePass
from onnxscript import ir

from polybake.errors import InputError
from polybake.graph.external_data import load_model
from polybake.graph.opset import NEWEST
from polybake.sources.onnx.signature import last_axis

_OPSETS = range(11, NEWEST + 1)
#: The first in which a weight need not also be an input of the graph.
_OLDEST_IR_VERSION = 4

#: Operators that every build of ONNX Runtime carries.
_DOMAINS = {"", "ai.onnx", "com.microsoft"}


def load_graph(path: Path) -> ir.Model:
    """Load the model without anything that is not computation, and check what it may do.

    Raises:
        InputError: not an ONNX file, or one with an opset or operator that clients cannot run.
    """
    try:
        model = ir.from_proto(load_model(path))
    except ir.serde.SerdeError as error:
        raise InputError(f"{path}: is not a valid ONNX graph ({error.__cause__})") from error
    _check(model, path)
    ClearMetadataAndDocStringPass()(model)
    model.metadata_props.clear()
    model.producer_name, model.producer_version = "polybake", None
    model.doc_string = model.domain = model.model_version = None
    model.ir_version = max(model.ir_version, _OLDEST_IR_VERSION)
    # In old files every weight is an input too; a client feeds none of them.
    inputs = [value for value in model.graph.inputs if value.name not in model.graph.initializers]
    model.graph.inputs[:] = inputs
    _find_last_axes(model)
    return model


def _check(model: ir.Model, path: Path) -> None:
    own = [model.opset_imports[name] for name in ("", "ai.onnx") if name in model.opset_imports]
    if len(set(own)) > 1:
        raise InputError(
            f"{path}: imports ONNX's operators at the opsets {own[0]} and {own[1]}; "
            "export it with one"
        )
    model.opset_imports.setdefault("", model.opset_imports.pop("ai.onnx", 0))
    opset = model.opset_imports[""]
    if opset not in _OPSETS:
        raise InputError(
            f"{path}: has opset {opset}, expected {_OPSETS[0]} to {_OPSETS[-1]}; export it again"
        )
    allowed = _DOMAINS | {function.domain for function in model.functions.values()}
    bodies: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for body in bodies:
        for node in ir.traversal.RecursiveGraphIterator(body):
            if node.domain not in allowed:
                raise InputError(
                    f"{path}: uses the custom operator {node.domain}.{node.op_type}, which no "
                    "client has; export it with standard operators"
                )


def _find_last_axes(model: ir.Model) -> None:
    """Infer the shape of outputs whose last axis is a mere name, or not known at all.

    txtai, for one, calls the second axis of its pooled output ``sequence``.
    """
    unknown = [value for value in model.graph.outputs if last_axis(value) is None]
    for value in unknown:
        value.shape = None  # inference would keep the name
    if unknown:
        ShapeInferencePass()(model)
