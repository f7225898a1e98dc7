"""Model files that are wrong and agree with their own digests and golden cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper, parser

from polybake.baking.golden.golden import make_fixture
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.container import ascii_json, read_head, sha256, tail_digest, write
from polybake.base.modelfile.fixture import Fixture
from polybake.base.modelfile.manifest import Contract, fingerprint

Floats = NDArray[np.float32]


@dataclass
class Parts:
    """The parts of a file that decide a vector, which a change modifies."""

    graph: onnx.GraphProto
    tokenizer: dict[str, Any]
    contract: Contract


Change = Callable[[Parts], None]


def write_mutated(sound: Path, path: Path, change: Change) -> Path:
    """Copy a baked file with a change; its digests and golden cases are its own again."""
    head = read_head(sound)
    model = onnx.load_model_from_string(sound.read_bytes()[head.tail_offset :])
    parts = Parts(model.graph, json.loads(head.tokenizer), head.manifest.contract)
    change(parts)
    tokenizer = ascii_json(parts.tokenizer)
    texts = [
        CaseText(case.id, case.why, case.flags, case.prompt, case.texts)
        for case in head.fixture.cases
    ]
    with TemporaryDirectory() as folder:
        tail = Path(folder) / "tail"
        tail.write_bytes(model.SerializeToString())
        digest = tail_digest(tail)
        manifest = head.manifest.model_copy(
            update={
                "contract": parts.contract,
                "fingerprint": fingerprint(digest, sha256(tokenizer), parts.contract),
            }
        )

        def save(fixture: Fixture) -> None:
            write(path, tail, manifest, tokenizer.decode(), fixture)

        save(head.fixture)  # golden cases are made of a whole file
        save(make_fixture(path, texts))
    return path


def change_weight(parts: Parts, name: str, change: Callable[[Floats], Floats]) -> None:
    """Change the values of an initializer."""
    (tensor,) = [one for one in parts.graph.initializer if one.name == name]
    tensor.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(tensor)), name))


def node_of(parts: Parts, name: str) -> onnx.NodeProto:
    """The node of this name, which a number follows."""
    (found,) = [node for node in parts.graph.node if node.name.startswith(f"{name}_node")]
    return found


def replace_node(parts: Parts, output: str, text: str) -> None:
    """Put nodes in the place of the one with this output: ``a`` and ``b`` are its inputs."""
    (place,) = [n for n, node in enumerate(parts.graph.node) if output in node.output]
    sound = parts.graph.node[place]
    names = dict(zip("ab", sound.input, strict=False)) | {"out": output}
    nodes = list(parser.parse_graph(f"g (float a, float b) => (float out) {{ {text} }}").node)
    for node in nodes:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    kept = list(parts.graph.node)
    kept[place : place + 1] = nodes
    del parts.graph.node[:]
    parts.graph.node.extend(kept)
