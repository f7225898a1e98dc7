"""An existing ``.onnx`` encoder with its tokenizer.json: the graph surgery case."""

from __future__ import annotations

import dataclasses
import gc
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onnx_ir.passes.common import (
    ClearMetadataAndDocStringPass,
    RemoveUnusedNodesPass,
    ShapeInferencePass,
)
from onnxscript import GraphBuilder, ir

from polybake.errors import InputError
from polybake.manifest import Input
from polybake.modelfolder import ModelFolder
from polybake.sources.external_data import load_model
from polybake.sources.identity import identifier
from polybake.sources.onnx_signature import embeddings_output, input_feeds, last_axis
from polybake.sources.sentence_transformers import open_sentence_transformers
from polybake.sources.source import EncoderGraph, Reference, Source
from polybake.tokenizer import bake_tokenizer

_OLDEST_OPSET = 11
#: The first in which a weight need not also be an input of the graph.
_OLDEST_IR_VERSION = 4

#: Operators that every build of ONNX Runtime carries.
_DOMAINS = {"", "ai.onnx", "com.microsoft"}


@dataclass(frozen=True)
class OnnxFile:
    """An encoder as an ONNX file.

    Attributes:
        path: The file.
        output: The output that steps begin with.
        pooled: Whether that output is ``[batch, dimension]`` already.
        beside: The names of the files that hold external data.
    """

    path: Path
    output: str
    pooled: bool
    beside: frozenset[str]
    name: str = "onnx"
    proves: Literal["source"] = "source"

    def place(self) -> EncoderGraph:
        """Load the graph and leave only what gives the chosen output."""
        model, _ = _load(self.path)
        graph = model.graph
        feeds = input_feeds(graph, self.path)
        embeddings = next(value for value in graph.outputs if value.name == self.output)
        graph.outputs[:] = [embeddings]
        RemoveUnusedNodesPass()(model)
        graph.outputs.clear()
        _name_axes(graph)
        _prefix_names(graph)
        fed = {feed: _fed_as_int64(graph, name) for name, feed in feeds.items()}
        return EncoderGraph(
            model=model,
            builder=GraphBuilder(graph),
            inputs=tuple(Input(name=name, feed=feed) for name, feed in feeds.items()),
            attention_mask=fed["attention_mask"],
            embeddings=embeddings,
        )

    def reference(self, folder: Path) -> Reference:
        """Give the file as it came.

        With external data, a copy: ONNX Runtime refuses the links of a Hugging Face cache.
        """
        if not self.beside:
            return Reference(self.path, self.output)
        for name in (self.path.name, *sorted(self.beside)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.path.parent / name, folder / name)
        return Reference(folder / self.path.name, self.output)


def open_onnx_file(path: Path) -> Source:
    """Open an ``.onnx`` encoder; its tokenizer lies beside it or one folder up.

    Raises:
        InputError: not an encoder that can be baked, or no tokenizer.json.
    """
    folder = next(
        (
            found
            for found in (ModelFolder.at(path.parent), ModelFolder.at(path.parent.parent))
            if found.file("tokenizer.json") is not None
        ),
        ModelFolder.at(path.parent),
    )
    model, beside = _load(path)
    input_feeds(model.graph, path)
    output, pooled = embeddings_output(model.graph, path)
    encoder = OnnxFile(path, output, pooled, beside)
    # The weights are loaded again when the encoder is placed; a graph's cycles hold on to them.
    del model
    gc.collect()
    if folder.file("modules.json") is not None:
        source = open_sentence_transformers(folder, encoder)
        return dataclasses.replace(source, recipe=() if encoder.pooled else source.recipe)
    return Source(
        encoder=encoder,
        tokenizer=bake_tokenizer(folder),
        folder=folder.path,
        identifier=identifier(folder.path),
        licence=folder.licence(),
    )


def _load(path: Path) -> tuple[ir.Model, frozenset[str]]:
    """Load the model without anything that is not computation, and check what it may do."""
    proto, beside = load_model(path)
    try:
        model = ir.from_proto(proto)
    except ir.serde.SerdeError as error:
        raise InputError(f"{path}: is not a valid ONNX graph ({error.__cause__})") from error
    model.opset_imports.setdefault("", model.opset_imports.pop("ai.onnx", 0))
    opset = model.opset_imports[""]
    if opset < _OLDEST_OPSET:
        raise InputError(
            f"{path}: has opset {opset}, expected {_OLDEST_OPSET} or later; export it again"
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
    ClearMetadataAndDocStringPass()(model)
    model.metadata_props.clear()
    model.producer_name, model.producer_version = "polybake", None
    model.doc_string = model.domain = model.model_version = None
    model.ir_version = max(model.ir_version, _OLDEST_IR_VERSION)
    # In old files every weight is an input too; a client feeds none of them.
    inputs = [value for value in model.graph.inputs if value.name not in model.graph.initializers]
    model.graph.inputs[:] = inputs
    if any(last_axis(value) is None for value in model.graph.outputs):
        ShapeInferencePass()(model)
    return model, beside


def _name_axes(graph: ir.Graph) -> None:
    """Call the inputs' axes batch and sequence, here and wherever they reappear."""
    names: dict[str, str] = {}
    for value in graph.inputs:
        for axis, name in zip(value.shape or (), ("batch", "sequence"), strict=True):
            if isinstance(axis, ir.SymbolicDim) and axis.value is not None:
                names[axis.value] = name
    for node in graph:
        for value in node.outputs:
            if value.shape is not None:
                value.shape = ir.Shape(
                    names.get(size.value or "", size.value)
                    if isinstance(size, ir.SymbolicDim)
                    else size
                    for size in value.shape
                )
    for value in graph.inputs:
        value.shape = ir.Shape(["batch", "sequence"])


def _prefix_names(graph: ir.Graph) -> None:
    """Keep the source's names apart from those that steps make.

    Longest first, so that no new name meets one that is still to be changed.
    """
    values = [*graph.initializers.values(), *(value for node in graph for value in node.outputs)]
    for value in sorted(values, key=lambda value: -len(value.name or "")):
        if value.name:
            value.name = f"encoder.{value.name}"


def _fed_as_int64(graph: ir.Graph, name: str) -> ir.Value:
    """Return the input ``name``, after giving it the type that every client feeds."""
    index, old = next((i, value) for i, value in enumerate(graph.inputs) if value.name == name)
    if old.dtype == ir.DataType.INT64:
        return old
    new = ir.val(name, ir.DataType.INT64, ["batch", "sequence"])
    cast = ir.node("Cast", [new], {"to": ir.DataType.INT32}, name=f"encoder.cast.{name}")
    cast.outputs[0].name = f"encoder.int32.{name}"
    cast.outputs[0].dtype, cast.outputs[0].shape = ir.DataType.INT32, old.shape
    old.replace_all_uses_with(cast.outputs[0])
    graph.inputs[index] = new
    graph.insert_before(graph[0], cast)
    return new
