"""Send embeddings through a function of the user's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from onnxscript import GraphBuilder, OpBuilder, ir
from pydantic import Field, ValidationInfo, field_validator

from polybake.baking.steps.arrays import check_pooled, embedding_size
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.errors import InputError

#: The opset of the graph that holds the step alone, equal to that of polybake's encoders.
_OPSET = 18
_IR_VERSION = 8

#: The name of the function that computes the step in NumPy.
_REFERENCE = "reference"


@dataclass(frozen=True)
class Script:
    """The functions of a Python file, by name."""

    name: str
    functions: Mapping[str, Callable[..., Any]] = field(repr=False)

    def __str__(self) -> str:
        return self.name


class PythonFile(Pointwise):
    """Call ``function(op, embedding, **parameters)`` of ``file`` while the graph is built.

    The function is given onnxscript's builder and float32 ``[batch, dimension]``, and returns one
    such value, of any dimension. Where the file has ``reference(embedding, **parameters)``, which
    computes the same in NumPy, a bake is proven with that; else with a graph of the step alone,
    which shows nothing about the function itself, and the step is called unproven.
    """

    name: ClassVar[str] = "python"

    file: Script
    function: str = Field(default="step", validate_default=True)
    parameters: dict[str, Any] = Field(default_factory=dict)

    @field_validator("function")
    @classmethod
    def _is_in_the_file(cls, function: str, info: ValidationInfo) -> str:
        script = info.data.get("file")
        if script is not None and function not in script.functions:
            raise ValueError(
                f"{script.name} has no such function, only: {', '.join(script.functions) or 'none'}"
                f"; write def {function}(op, embedding), or name another"
            )
        return function

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the function's operators to the graph."""
        check_pooled(x, "python")
        y = self._call(self.function, op, x)
        if not isinstance(y, ir.Value) or embedding_size([y]) is None:
            result = _shown(y) if isinstance(y, ir.Value) else type(y).__name__
            raise InputError(
                f"python: {self.function} of {self.file} returned {result}; return one float32 "
                "[batch, dimension], of any batch and of a known dimension"
            )
        return y

    def formula(self, x: Floats) -> Floats:
        """Call the file's reference, or else run the step alone in ONNX Runtime."""
        if _REFERENCE not in self.file.functions:
            return self._run_alone(x)
        result = self._call(_REFERENCE, x)
        try:
            y = np.asarray(result)
        except ValueError as error:
            raise InputError(
                f"python: {_REFERENCE} of {self.file} returned rows of several lengths; "
                "return [batch, dimension]"
            ) from error
        if y.ndim != 2 or len(y) != len(x):
            raise InputError(
                f"python: {_REFERENCE} of {self.file} returned shape {list(y.shape)} for "
                f"{list(x.shape)}; return [batch, dimension]"
            )
        if y.dtype.kind not in "fiu":
            raise InputError(
                f"python: {_REFERENCE} of {self.file} returned an array of {y.dtype}; "
                "return real numbers, such as float32"
            )
        return y

    def _run_alone(self, x: Floats) -> Floats:
        from polybake.baking.graph.empty_inputs import drop_empty_inputs
        from polybake.runtime.session import open_session

        graph = ir.Graph([], [], nodes=[], opset_imports={"": _OPSET}, name="step")
        builder = GraphBuilder(graph)
        argument = builder.input("embedding", ir.DataType.FLOAT, ["batch", x.shape[1]])
        result = self._call(self.function, builder.op, argument)
        builder.add_output(builder.op.Identity(result), "result")
        proto = ir.to_proto(ir.Model(graph, ir_version=_IR_VERSION))
        drop_empty_inputs(proto)
        try:
            session = open_session(proto.SerializeToString())
        except InputError as error:
            raise InputError(
                f"python: {self.file} does not run alone at opset {_OPSET} ({error}); "
                f"add def {_REFERENCE}(embedding) in NumPy to the file"
            ) from error
        y: Floats = session.run(None, {"embedding": x.astype(np.float32)})[0].astype(x.dtype)
        return y

    def _call(self, function: str, *values: object) -> Any:
        try:
            return self.file.functions[function](*values, **self.parameters)
        except (Exception, SystemExit) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(
                f"python: {function} of {self.file} raised {reason}; correct it or its parameters"
            ) from error

    def __str__(self) -> str:
        """The step as the manifest shows it, such as ``python(file=clip.py, ...) unproven``."""
        proven = _REFERENCE in self.file.functions
        return super().__str__() if proven else f"{super().__str__()} unproven"


def _shown(value: ir.Value) -> str:
    """Return a value's type and shape, and the operator that made them unknown, if any."""
    shown = f"{value.dtype} {value.shape}"
    node = value.producer()
    while node is not None:
        unknown = (x.producer() for x in node.inputs if x is not None and not _is_known(x))
        before = next(unknown, None)
        if before is None:
            break
        node = before
    if node is None or _is_known(value):
        return shown
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    return (
        f"{shown}, as {operator} is not in the graph's opset, or its inputs do not fit it or do "
        "not tell its shape"
    )


def _is_known(value: ir.Value) -> bool:
    return value.dtype is not None and value.shape is not None
