"""An existing ``.onnx`` encoder with its tokenizer: the graph surgery case."""

import dataclasses
import gc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from onnx_ir.passes.common import RemoveUnusedNodesPass, RemoveUnusedOpsetsPass
from onnxscript import GraphBuilder, ir

from polybake.baking.graph.write import write_to_run
from polybake.baking.sources.heads import head_of_kind, open_head
from polybake.baking.sources.kind import SETTINGS, SavedBy
from polybake.baking.sources.onnx.graph import load_graph
from polybake.baking.sources.onnx.signature import (
    EmbeddingOutputs,
    HeadOutputs,
    embedding_outputs,
    head_outputs,
    input_feeds,
    remaining_steps,
)
from polybake.baking.sources.sentence_transformers.cross_encoder import (
    of_pairs,
    open_cross_encoder,
)
from polybake.baking.sources.sentence_transformers.folder import open_sentence_transformers
from polybake.baking.sources.source import (
    MEAN,
    EncoderGraph,
    Source,
    SourceReference,
    TaskHead,
)
from polybake.baking.steps.state import State
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer, with_tokenizer
from polybake.baking.tokenizer.model_config import COUNT_BEHIND_PADDING, ModelConfig
from polybake.base.files.model_folder import AS_IT_IS, ModelFolder, SourceSettings
from polybake.base.modelfile.manifest import Input
from polybake.errors import InputError

_STACKED = "start_and_end_logits"

#: Operators that find one range for a whole batch, as `quantize_dynamic` of ONNX Runtime adds them.
_DYNAMIC = {"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}


@dataclass(frozen=True)
class OnnxFile:
    """An encoder in an ONNX file.

    Attributes:
        path: The file.
        output: The output that steps begin with.
        second: An output that is stacked behind it, both ``[batch, sequence]``; mostly None.
        typed: Whether the tokens of a pair have types; None where it makes no difference.
    """

    path: Path
    output: str
    second: str | None = None
    typed: bool | None = None
    name: str = "onnx"
    proves: Literal["source"] = "source"

    def for_pairs(self, gives_types: Callable[[], bool]) -> Self:
        """Return the file, whose inputs are fixed: without types it is fed zeros."""
        takes = "token_type_ids" in input_feeds(load_graph(self.path).graph, self.path).values()
        return dataclasses.replace(self, typed=gives_types()) if takes else self

    def place(self) -> EncoderGraph:
        """Load the graph, and keep only the nodes for the chosen output."""
        model = self._load()
        _refuse_dynamic(model, self.path)
        graph = model.graph
        feeds = input_feeds(graph, self.path)
        (embeddings,) = graph.outputs
        graph.outputs.clear()
        _name_axes(graph)
        _prefix_names(graph)
        fed = {feed: _fed_as_int64(graph, name) for name, feed in feeds.items()}
        return EncoderGraph(
            model=model,
            builder=GraphBuilder(graph),
            inputs=tuple(Input(name=name, feed=feed) for name, feed in feeds.items()),
            state=State(embeddings, fed["input_ids"], fed["attention_mask"]),
            typed=self.typed,
        )

    def reference(self, folder: Path) -> SourceReference:
        """Give the file's own graph, with all its weights in the file.

        ONNX Runtime would refuse external data that are links into a Hugging Face cache.
        """
        copy = folder / "source.onnx"
        write_to_run(self._load(), copy)
        return SourceReference(copy, self._given)

    @property
    def _given(self) -> str:
        return self.output if self.second is None else _STACKED

    def _load(self) -> ir.Model:
        """Load the graph without the nodes for its other outputs."""
        model = load_graph(self.path)
        graph = model.graph
        outputs = {value.name: value for value in graph.outputs}
        graph.outputs[:] = [outputs[self.output]]
        if self.second is not None:
            graph.outputs[:] = [_stacked(graph, outputs[self.output], outputs[self.second])]
        RemoveUnusedNodesPass()(model)
        RemoveUnusedOpsetsPass()(model)
        return model


def open_onnx_file(path: Path, settings: SourceSettings = AS_IT_IS) -> Source:
    """Open an ``.onnx`` encoder, with its tokenizer in the same folder or one folder up."""
    folders = [ModelFolder.at(parent, settings) for parent in (path.parent, path.parent.parent)]
    folder = with_tokenizer(folders)
    model = load_graph(path)
    feeds = input_feeds(model.graph, path)
    kind = ModelConfig.of(folder).model_type
    if "position_ids" in feeds.values() and kind in COUNT_BEHIND_PADDING:
        raise InputError(
            f"{path}: wants position_ids as {kind} counts them, which clients do not; "
            "export it without this input"
        )
    numbers = head_outputs(model.graph)
    head = _head(folder, numbers, path) if numbers else None
    try:
        outputs = embedding_outputs(model.graph, path)
    except InputError:
        if head is None or numbers is None:
            raise
        outputs = EmbeddingOutputs(numbers.first, numbers.first)
    else:
        head = None if head is not None and head.unsaid else head
    # The weights are loaded again when the encoder is placed; a graph's cycles hold on to them.
    del model
    gc.collect()
    encoder = OnnxFile(path, outputs.first)
    pooled = OnnxFile(path, outputs.pooled) if outputs.pooled else None
    modules = folder.file("modules.json") is not None
    if modules and (head is None or not _is_a_cross_encoder(folder)):
        source = open_sentence_transformers(folder, lambda *_: encoder)
        recipe = remaining_steps(source.recipe, outputs, path)
        return dataclasses.replace(source, recipe=recipe, pooled=pooled)
    if head is not None and numbers is not None:
        pooled = OnnxFile(path, numbers.first, numbers.second)
    if modules:  # a CrossEncoder's, all of which the graph includes
        source = open_cross_encoder(folder, lambda *_: encoder)
        return dataclasses.replace(source, recipe=(), pooled=pooled, head=head)
    return Source(
        encoder=encoder,
        pooled=pooled,
        tokenizer=open_tokenizer(folder),
        folder=folder,
        assumed=MEAN if pooled is None else (),
        head=head,
    )


def _head(folder: ModelFolder, numbers: HeadOutputs, path: Path) -> TaskHead | None:
    """Return what the files beside a graph that includes its head say of its numbers.

    None if config.json names a masked language model's head, whose output is shaped as a tagger's.
    """
    head = open_head(folder)
    if head is None or head.kind != numbers.kind:
        if head is not None and numbers.kind == "ForTokenClassification":
            return None
        unsaid = f"{path}: no file beside it says what its output {numbers} is for"
        head = head_of_kind(folder, numbers.kind, numbers.columns)
        head = dataclasses.replace(head, unsaid=unsaid)
    if _is_a_cross_encoder(folder) and numbers.kind == "ForSequenceClassification":
        head = of_pairs(folder, head)
    return head and dataclasses.replace(head, steps=list)


def _is_a_cross_encoder(folder: ModelFolder) -> bool:
    return folder.read(SETTINGS, SavedBy).model_type == "CrossEncoder"


def _refuse_dynamic(model: ir.Model, path: Path) -> None:
    """Refuse an encoder that was quantized dynamically, as its vectors depend on the batch."""
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    nodes = [node for graph in graphs for node in graph.all_nodes() if node.op_type in _DYNAMIC]
    if nodes:
        raise InputError(
            f"{path}: was quantized dynamically in {len(nodes)} places, which find one range for a "
            "whole batch, so that a text's vector changes with the texts beside it; give the "
            'float32 file that it was made of, with precision = "int8" in [model] for one as small'
        )


def _stacked(graph: ir.Graph, first: ir.Value, second: ir.Value) -> ir.Value:
    """Numbers of each token side by side, ``[batch, sequence, 2]``."""
    op = GraphBuilder(graph).op
    columns = [op.Unsqueeze(value, axes=[-1]) for value in (first, second)]
    numbers: ir.Value = op.Concat(*columns, axis=-1)
    numbers.name, numbers.dtype = _STACKED, ir.DataType.FLOAT
    numbers.shape = ir.Shape([*(first.shape or ()), 2])
    return numbers


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
    """Keep the source's names apart from the names of the steps.

    Longest first, so that no new name collides with a name not yet changed.
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
