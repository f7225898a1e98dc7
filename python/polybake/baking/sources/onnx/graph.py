"""Load the graph of an ONNX encoder: nothing but computation that every client can run."""

from pathlib import Path

import onnx
from onnx_ir.passes.common import ClearMetadataAndDocStringPass, ShapeInferencePass
from onnxscript import ir

from polybake.baking.graph.external_data import load_model
from polybake.baking.graph.nodes import every_node
from polybake.baking.graph.operators import check_operators
from polybake.baking.graph.opset import NEWEST
from polybake.baking.graph.validate import validate
from polybake.baking.sources.onnx.signature import last_axis
from polybake.errors import InputError

_OPSETS = range(11, NEWEST + 1)

#: The domains of operators, beside ONNX's own, that every build of ONNX Runtime has.
_DOMAINS = ("com.microsoft",)


def load_graph(path: Path) -> ir.Model:
    """Load only the computation of a model, and check its operators."""
    proto = load_model(path)
    try:
        opset = check_operators(proto, _OPSETS, _DOMAINS)
        validate(proto, path)
        _drop_devices(proto)
        model = ir.from_proto(proto)
    except ir.serde.SerdeError as error:
        raise InputError(
            f"{path}: is not a valid ONNX graph ({error.__cause__}); export it again"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    model.opset_imports.pop("ai.onnx", None)
    model.opset_imports[""] = opset
    ClearMetadataAndDocStringPass()(model)
    model.metadata_props.clear()
    model.producer_name, model.producer_version = "polybake", None
    model.doc_string = model.domain = model.model_version = None
    # In old files every weight is an input, too; clients do not feed weights.
    inputs = [value for value in model.graph.inputs if value.name not in model.graph.initializers]
    model.graph.inputs[:] = inputs
    _find_last_axes(model)
    return model


def _drop_devices(proto: onnx.ModelProto) -> None:
    """Drop the devices that nodes were meant for, which only newer files can name."""
    proto.ClearField("configuration")
    for node in every_node(proto):
        node.ClearField("device_configurations")


def _find_last_axes(model: ir.Model) -> None:
    """Infer the shape of outputs whose last axis is only named, or unknown.

    txtai, for example, names the second axis of its pooled output ``sequence``.
    """
    unknown = [value for value in model.graph.outputs if last_axis(value) is None]
    for value in unknown:
        value.shape = None  # inference would keep the name
    if unknown:
        ShapeInferencePass()(model)
