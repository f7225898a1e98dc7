"""Split the time of a workload into parts, by ONNX Runtime's own profile."""

import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polybake.base.files.scratch import Scratch
from polybake.runtime.embedder import Embedder
from polybake.runtime.session import open_session
from polybake.study.bench.workload import Workload

PRODUCTS, ATTENTION, NORMS = "matrix products", "attention", "norms"
ACTIVATIONS, ROUNDING, OTHER = "activations", "rounding to int8", "other"
TOKENISING, OWN = "tokenising", "batching and feeding"

#: All parts, in the order in which they are shown.
PARTS = (PRODUCTS, ATTENTION, NORMS, ACTIVATIONS, ROUNDING, OTHER, TOKENISING, OWN)

_PRODUCTS = re.compile(r"MatMul|Gemm|Conv")
_OPERATORS = (
    (ROUNDING, re.compile(r"(Quantize|Dequantize|DynamicQuantize)Linear")),
    (ATTENTION, re.compile(r"Attention|Softmax|RotaryEmbedding")),
    (NORMS, re.compile(r"Normalization")),
    (ACTIVATIONS, re.compile(r"Gelu|Erf|Relu|Tanh|Sigmoid|Silu|Swish|Elu")),
)
_MODULES = (
    (ROUNDING, re.compile(r"(^|/)int8/")),
    (NORMS, re.compile(r"norm[^/]*/", re.IGNORECASE)),
    (ATTENTION, re.compile(r"att(entio)?n[^/]*/", re.IGNORECASE)),
)

#: Operators whose time is not counted, as the profile lists the nodes of their subgraphs.
_CONTROL = {"If", "Loop", "Scan"}

#: The most texts of a profile. ONNX Runtime leaves out what comes after a million nodes.
_MOST_TEXTS = 200

Event = dict[str, Any]


def where_time_goes(
    embedder: Embedder, workload: Workload, threads: int | None
) -> dict[str, float]:
    """Embed a part of a workload under ONNX Runtime's profiler; return the seconds of `PARTS`.

    Time that the profile does not explain is ``other``.
    """
    calls = workload.calls() if workload.single else [workload.part(_MOST_TEXTS)]
    with Scratch() as folder:
        profile = Path(folder) / "profile"
        session = open_session(embedder.path, embedder.device, threads, profile=profile)
        runner = replace(embedder.runner, session=session, at_once=1)
        for _ in range(2):  # the first is a warm-up
            whole = tokenising = 0.0
            for texts in calls:
                begin = time.perf_counter()
                rows = runner.ids(texts)
                tokenising += time.perf_counter() - begin
                runner.embed(rows)
                whole += time.perf_counter() - begin
        events = json.loads(Path(session.end_profiling()).read_bytes())
    parts = folded(events)
    parts[TOKENISING] = tokenising
    parts[OWN] = max(0.0, whole - sum(parts.values()))
    return parts


def folded(events: Sequence[Event]) -> dict[str, float]:
    """Sum the seconds of each part over the later half of a profile's runs."""
    runs = [event for event in events if event["name"] == "model_run"]
    runs = runs[len(runs) // 2 :]
    seconds = dict.fromkeys(PARTS, 0.0)
    nodes = (event for event in events if event["cat"] == "Node" and event["ts"] >= runs[0]["ts"])
    for event in nodes:
        if event["args"].get("op_name", "") not in _CONTROL:
            seconds[part_of(event)] += event["dur"] / 1e6
    seconds[OTHER] += max(0.0, sum(run["dur"] for run in runs) / 1e6 - sum(seconds.values()))
    return seconds


def part_of(event: Event) -> str:
    """Return the part that a node belongs to, by its operator or else by its module."""
    operator, name = event["args"].get("op_name", ""), event["name"]
    has_weight = event["args"].get("parameter_size", "0") != "0"
    if _PRODUCTS.search(operator):
        # A weight that the runtime has packed is no longer an input.
        factors = [shape for shape in _shapes(event) if len(shape) > 1]
        return ATTENTION if len(factors) > 1 and not has_weight else PRODUCTS
    for part, pattern in _OPERATORS:
        if pattern.search(operator):
            return part
    part = next((part for part, pattern in _MODULES if pattern.search(name)), OTHER)
    # The bias of a product stands in the product's module, within attention's.
    return PRODUCTS if operator == "Add" and has_weight and part in (ATTENTION, OTHER) else part


def _shapes(event: Event) -> Iterable[list[int]]:
    for value in event["args"].get("input_type_shape", ()):
        yield from value.values()
