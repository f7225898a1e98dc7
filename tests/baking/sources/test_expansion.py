"""What becomes of rows before the encoder, in both forms."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from onnxscript import GraphBuilder, ir

from polybake.baking.graph.check import check_graph
from polybake.baking.sources.expansion import Expansion, Tokens

CLS, END, FILL = 1, 2, 9
ROWS = [[CLS, 3, END], [CLS, 3, 4, 5, 6, 7, END], [CLS, END]]


def fed(*rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Padded on the right with 8."""
    width = max(map(len, rows))
    ids = np.array([[*row, *[8] * (width - len(row))] for row in rows])
    mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return ids, mask


def run(expansion: Expansion, ids: np.ndarray, mask: np.ndarray, route: int) -> Tokens:
    """The operators, in ONNX Runtime."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="expansion")
    builder = GraphBuilder(graph)
    values = [
        builder.input(name, ir.DataType.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    chosen = builder.input("route", ir.DataType.INT64, [1])
    for name, value in zip(
        Tokens._fields, expansion.build(builder.op, *values, chosen), strict=True
    ):
        builder.add_output(builder.op.Identity(value), name)
    model = ir.Model(graph, ir_version=8)
    check_graph(model)
    session = ort.InferenceSession(
        ir.to_proto(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return Tokens(
        *session.run(None, {"input_ids": ids, "attention_mask": mask, "route": np.array([route])})
    )


def by_row(tokens: Tokens) -> list[tuple[list[int], list[int], list[int]]]:
    """The tokens of each row that count, whether they are attended, and where they stand."""
    return [
        (
            ids[counted == 1].tolist(),
            attended[counted == 1].tolist(),
            np.flatnonzero(counted).tolist(),
        )
        for ids, attended, counted in zip(*tokens, strict=True)
    ]


@pytest.mark.parametrize("attend", [0, 1])
def test_queries_are_filled_up_and_documents_only_cut(attend: int) -> None:
    """To a width, or to the limit of a route; before the last tokens."""
    expansion = Expansion(limits=(4, 5), widths=(0, 5), fill=FILL, attend=bool(attend), behind=1)
    queries = [
        ([CLS, 3, END, FILL, FILL], [1, 1, 1, attend, attend], [0, 1, 2, 3, 4]),
        ([CLS, 3, 4, 5, END], [1, 1, 1, 1, 1], [0, 1, 2, 3, 4]),
        ([CLS, END, FILL, FILL, FILL], [1, 1, attend, attend, attend], [0, 1, 2, 3, 4]),
    ]
    documents = [
        ([CLS, 3, END], [1, 1, 1], [0, 1, 2]),
        ([CLS, 3, 4, END], [1, 1, 1, 1], [0, 1, 2, 3]),
        ([CLS, END], [1, 1], [0, 1]),
    ]
    ids, mask = fed(*ROWS)
    for route, expected in enumerate((documents, queries)):
        assert by_row(run(expansion, ids, mask, route)) == expected
        assert by_row(expansion.numpy(ids, mask, np.array([route]))) == expected


@pytest.mark.parametrize("route", [0, 1])
def test_both_forms_agree_on_any_rows(route: int) -> None:
    """Also where all are short, or long, or there is only one."""
    random = np.random.default_rng(4)
    for behind in (0, 1, 3):
        expansion = Expansion(limits=(6, 8), widths=(0, 5), fill=FILL, attend=False, behind=behind)
        for _ in range(8):
            sizes = random.integers(3, 12, size=random.integers(1, 4))
            ids, mask = fed(*([*map(int, random.integers(3, 7, size=size))] for size in sizes))
            found = run(expansion, ids, mask, route)
            expected = expansion.numpy(ids, mask, np.array([route]))
            assert by_row(found) == by_row(expected)
            assert found.ids.shape == expected.ids.shape
            assert (found.attended == expected.attended).all()
