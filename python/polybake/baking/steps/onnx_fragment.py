"""Send embeddings through an ONNX graph of the user's own."""

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import onnx
import onnx.inliner
from onnxscript import OpBuilder, ir

from polybake.baking.graph.operators import check_operators
from polybake.baking.graph.opset import NEWEST, at_opset
from polybake.baking.steps.arrays import check_embedding, check_pooled, embedding_size
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.errors import InputError


@dataclass(frozen=True)
class Fragment:
    """An ONNX graph from float32 ``[batch, inputs]`` to float32 ``[batch, outputs]``.

    Attributes:
        name: The file's name.
        model: The graph as protobuf, without functions.
        inputs: The number of elements of its input embedding.
        outputs: The number of elements of its output embedding.
        opset: The opset of its operators.
    """

    name: str
    model: bytes = field(repr=False)
    inputs: int
    outputs: int
    opset: int

    @classmethod
    def of(cls, name: str, model: onnx.ModelProto) -> Self:
        """Check that ``model`` is such a graph."""
        opset = check_operators(model, range(1, NEWEST + 1))
        try:
            onnx.checker.check_model(model, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            raise ValueError(f"is not valid ONNX ({_line(error)}); export it again") from error
        if model.functions:
            model = onnx.inliner.inline_local_functions(model)
        loaded = ir.from_proto(model)
        arguments, results = _inputs(loaded.graph), list(loaded.graph.outputs)
        inputs, outputs = embedding_size(arguments), embedding_size(results)
        if inputs is None or outputs is None:
            raise ValueError(
                f"takes {_shown(arguments)} and gives {_shown(results)}; expected one float32 "
                "[batch, in] and one float32 [batch, out], of any batch and of fixed sizes; "
                "export it so"
            )
        del model.opset_import[:]
        model.opset_import.add(version=opset)
        return cls(name, model.SerializeToString(deterministic=True), inputs, outputs, opset)

    def at(self, opset: int) -> onnx.ModelProto:
        """Return the graph with operators of ``opset``."""
        try:
            return at_opset(onnx.ModelProto.FromString(self.model), opset)
        except Exception as error:  # onnx's errors share no base class
            raise InputError(
                f"onnx: {self.name} has opset {self.opset} and the encoder {opset}, to which it "
                f"does not convert ({_line(error)}); export it again at opset {opset}"
            ) from error

    def __str__(self) -> str:
        return self.name


class OnnxFragment(Pointwise):
    """Run ``file`` on every embedding.

    Its weights and operators become part of the graph, under names of their own. What is run as
    its NumPy form is the file as it came, at its own opset, in ONNX Runtime.
    """

    name: ClassVar[str] = "onnx"

    file: Fragment

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the fragment's operators to the graph."""
        from onnx_ir.passes.common import ClearMetadataAndDocStringPass

        check_pooled(x, "onnx")
        check_embedding(x, self.file.inputs, f"onnx: {self.file.name}")
        model = ir.from_proto(self.file.at(op.builder.graph.opset_imports[""]))
        ClearMetadataAndDocStringPass()(model)
        graph = model.graph
        # The builder inlines functions, which have no weights: they become inputs of one.
        weights = [
            (value, value.const_value)
            for value in graph.initializers.values()
            if value.const_value is not None
        ]
        graph.inputs[:] = [*_inputs(graph), *(value for value, _ in weights)]
        graph.initializers.clear()
        function = ir.Function("polybake", "fragment", graph=graph, attributes=[])
        tensors = [op.initializer(tensor, value.name) for value, tensor in weights]
        y: ir.Value = op.call_inline(function, x, *tensors)
        y.dtype, y.shape = ir.DataType.FLOAT, ir.Shape(["batch", self.file.outputs])
        return y

    def formula(self, x: Floats) -> Floats:
        """Run the fragment alone in ONNX Runtime."""
        from polybake.runtime.session import open_session

        session = open_session(self.file.model)
        fed = {session.get_inputs()[0].name: x.astype(np.float32)}
        y: Floats = session.run(None, fed)[0].astype(x.dtype)
        return y


def _inputs(graph: ir.Graph) -> list[ir.Value]:
    """Return the inputs without weights: in old files every weight is an input, too."""
    return [value for value in graph.inputs if value.name not in graph.initializers]


def _shown(values: list[ir.Value]) -> str:
    return ", ".join(f"{value.name} {value.dtype} {value.shape}" for value in values) or "nothing"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
