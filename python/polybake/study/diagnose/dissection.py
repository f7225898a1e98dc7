"""A model file taken apart: its encoder, layer by layer, and each step by itself."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper

from polybake.baking.graph.all_rows import compute_all_rows
from polybake.baking.graph.nodes import metadata
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.base.modelfile.size_limit import LARGEST_FILE
from polybake.errors import InputError
from polybake.runtime.session import open_session, run
from polybake.runtime.tokenizer import BakedTokenizer

#: Values of a graph by their names.
NamedArrays = Mapping[str, NDArray[Any]]

#: A function that changes the model's graph.
Changed = Callable[[onnx.ModelProto], onnx.ModelProto]

#: The most sessions that are kept open, each with its weights, and bytes of values of runs.
_KEPT, _LATEST = 3, 1 << 28

_STEP = re.compile(r"steps\.(\d+)")
_LAYER = re.compile(r"(?:^|/)(?:layers?|h|block)\.(\d+)(?=:|/|$)")


@dataclass(frozen=True)
class Dissection:
    """A model file whose parts can be run one by one.

    Attributes:
        manifest: The file's manifest.
        tokenizer: The file's tokenizer.
        graph: The whole graph, with its weights.
    """

    manifest: Manifest
    tokenizer: BakedTokenizer
    graph: onnx.ModelProto

    @classmethod
    def read(cls, path: Path) -> Dissection:
        """Read a baked model file."""
        head = read_head(path)
        contract = head.manifest.contract
        if contract.task != "embed" or contract.output.dtype != "float32":
            raise InputError(
                f"{path}: gives {contract.output.readable} for the task {contract.task!r}; give "
                "a file of float32 embeddings, such as the same model without quantize"
            )
        if head.size > LARGEST_FILE:
            raise InputError(
                f"{path}: has {head.size} bytes with its weights, and a graph of at most "
                f'{LARGEST_FILE} can be taken apart; bake the model with storage = "float16" or '
                'precision = "int8" for this, which is near enough'
            )
        tokenizer = BakedTokenizer.of(head.tokenizer, contract)
        graph = onnx.load(path)
        compute_all_rows(graph)
        return cls(head.manifest, tokenizer, graph)

    def values(
        self, feed: NamedArrays, change: Changed | None = None, *, layers: bool = False
    ) -> NamedArrays:
        """Run the encoder on a batch; return its output and all values that steps read.

        ``change`` changes the graph first, and ``layers`` adds the outputs of the layers.
        """
        arrays = tuple((name, array.shape, array.tobytes()) for name, array in sorted(feed.items()))
        key = (change, layers, arrays)
        if key not in self._latest:
            session = self._fronts(change, layers)
            names = [output.name for output in session.get_outputs()]
            values = {**feed, **dict(zip(names, run(session, names, feed), strict=True))}
            while self._latest and _bytes(values, *self._latest.values()) > _LATEST:
                self._latest.popitem(last=False)
            self._latest[key] = values
        self._latest.move_to_end(key)
        return self._latest[key]

    @cached_property
    def _latest(self) -> OrderedDict[object, NamedArrays]:
        """The values of the latest runs; other departures pool the same ones otherwise."""
        return OrderedDict()

    def step(self, index: int, values: NamedArrays, x: NDArray[Any]) -> NDArray[Any]:
        """Run a step on ``x``; its other inputs are values of the same batch."""
        session = self._steps[index]
        if session is None:
            return x
        own = self.states[index]
        names = (item.name for item in session.get_inputs())
        feed = {name: x if name == own else values[name] for name in names}
        return run(session, [self.states[index + 1]], feed)[0]

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The names of the outputs of the encoder and of each step."""
        steps = [self._nodes(index) for index in range(len(self.manifest.steps))]
        uses = {name for nodes in steps for node in nodes for name in _read(node)}
        uses |= {output.name for output in self.graph.graph.output}
        names = [name for node in self._nodes(None) for name in node.output if name in uses][-1:]
        for nodes in steps:
            outputs = [name for node in nodes for name in node.output if name in uses]
            embeddings = [name for name in outputs if _is_float(self._value(name))]
            names.append(embeddings[-1] if embeddings else names[-1])
        return tuple(names)

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers' outputs, without the last; empty if layers are not named."""
        outputs = {}
        for node in self._nodes(None):
            if match := _LAYER.search(metadata(node, "namespace") or ""):
                outputs[int(match[1])] = node.output[0]
        return tuple(name for _, name in sorted(outputs.items()))[:-1]

    @cached_property
    def pooled_at(self) -> int | None:
        """The place of the step that pools; None if no step does."""
        span = range(len(self.manifest.steps))
        return next((step for step in span if self.manifest.steps[step].startswith("pool(")), None)

    def step_name(self, index: int) -> str:
        """Return ``the step normalize()``; ``step 4, normalize()`` where two steps are equal."""
        steps = self.manifest.steps
        name = steps[index]
        return f"the step {name}" if steps.count(name) == 1 else f"step {index + 1}, {name}"

    def _value(self, name: str) -> onnx.ValueInfoProto:
        """Return a value with its type but no shape, as another way may give another shape."""
        kind = self._types.get(name, TensorProto.FLOAT)
        return helper.make_tensor_value_info(name, kind, None)

    @cached_property
    def _types(self) -> dict[str, int]:
        graph = self.graph.graph
        values = (*graph.input, *graph.value_info, *graph.output)
        return {value.name: value.type.tensor_type.elem_type for value in values}

    def _nodes(self, index: int | None) -> list[NodeProto]:
        """Return the nodes of a step; of the encoder for None."""
        return [node for node in self.graph.graph.node if _step(node) == index]

    @cached_property
    def _fronts(self) -> Callable[[Changed | None, bool], ort.InferenceSession]:
        """Open the session of the graph or of a changed graph; the latest sessions are kept."""
        return lru_cache(_KEPT)(self._front)

    def _front(self, change: Changed | None, layers: bool) -> ort.InferenceSession:
        """Open the encoder alone, with each value that `values` returns as an output."""
        front = onnx.ModelProto()
        front.CopyFrom(self.graph)
        inputs = {item.name for step in self._steps if step for item in step.get_inputs()}
        there = {*self.states[1:], *(item.name for item in front.graph.input)} - {self.states[0]}
        names = sorted({self.states[0], *(self.layers if layers else ()), *inputs} - there)
        del front.graph.output[:]
        front.graph.output.extend(map(self._value, names))
        return open_session((change(front) if change else front).SerializeToString())

    @cached_property
    def _steps(self) -> list[ort.InferenceSession | None]:
        """The session of each step; None for a step that changes nothing."""
        return [self._session(index) for index in range(len(self.manifest.steps))]

    def _session(self, index: int) -> ort.InferenceSession | None:
        nodes, whole = self._nodes(index), self.graph.graph
        if self.states[index] == self.states[index + 1]:
            return None  # it changes no embeddings
        outputs_of_step = {name for node in nodes for name in node.output}
        names = dict.fromkeys(name for node in nodes for name in _read(node) if name)
        weights = [tensor for tensor in whole.initializer if tensor.name in names]
        known = outputs_of_step | {tensor.name for tensor in weights}
        inputs = [self._value(name) for name in names if name not in known]
        outputs = [self._value(self.states[index + 1])]
        graph = helper.make_graph(nodes, "step", inputs, outputs, weights)
        model = helper.make_model(
            graph, opset_imports=self.graph.opset_import, functions=self.graph.functions
        )
        model.ir_version = self.graph.ir_version
        return open_session(model.SerializeToString())


def _bytes(*runs: NamedArrays) -> int:
    return sum(array.nbytes for values in runs for array in values.values())


def _is_float(value: onnx.ValueInfoProto) -> bool:
    return value.type.tensor_type.elem_type == TensorProto.FLOAT


def _step(node: NodeProto) -> int | None:
    match = _STEP.match(metadata(node, "namespace") or "")
    return int(match[1]) if match else None


def _read(node: NodeProto) -> Iterator[str]:
    """Yield the values that a node and the graphs within it read."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            inner = {name for child in graph.node for name in child.output}
            inner |= {tensor.name for tensor in graph.initializer}
            yield from (name for child in graph.node for name in _read(child) if name not in inner)
