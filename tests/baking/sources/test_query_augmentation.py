"""Rows that a route cuts or fills up: what the files say, and both forms of the operators.

tests/oracle compares the vectors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnxscript import GraphBuilder, ir

from models.files.task_models import write_colbert
from models.folders.stanford import write_stanford
from models.folders.tiny_folders import (
    VOCABULARY,
    change_json,
    write_json,
    write_sentence_transformers,
)
from polybake.baking.graph.check import check_graph
from polybake.baking.sources import Source, open_source
from polybake.baking.sources.augmented_encoder import AugmentedEncoder
from polybake.baking.sources.query_augmentation import QueryAugmentation, Tokens
from polybake.errors import InputError
from support.samples.weekly import weekly_but

CLS, END, FILL = 1, 2, 9
ROWS = [[CLS, 3, END], [CLS, 3, 4, 5, 6, 7, END], [CLS, END]]


def fed(*rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Padded on the right with 8."""
    width = max(map(len, rows))
    ids = np.array([[*row, *[8] * (width - len(row))] for row in rows])
    mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return ids, mask


def run(augmentation: QueryAugmentation, ids: np.ndarray, mask: np.ndarray, route: int) -> Tokens:
    """The operators, in ONNX Runtime."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="augmentation")
    builder = GraphBuilder(graph)
    values = [
        builder.input(name, ir.DataType.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    chosen = builder.input("route", ir.DataType.INT64, [1])
    for name, value in zip(
        Tokens._fields, augmentation.build(builder.op, *values, chosen), strict=True
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
    augmentation = QueryAugmentation(
        limits=(4, 5), widths=(0, 5), fill=FILL, attend=bool(attend), behind=1
    )
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
        assert by_row(run(augmentation, ids, mask, route)) == expected
        assert by_row(augmentation.numpy(ids, mask, np.array([route]))) == expected


@pytest.mark.parametrize("route", [0, 1])
def test_both_forms_agree_on_any_rows(route: int) -> None:
    """Also where all are short, or long, or there is only one."""
    random = np.random.default_rng(4)
    for behind in (0, 1, 3):
        augmentation = QueryAugmentation(
            limits=(6, 8), widths=(0, 5), fill=FILL, attend=False, behind=behind
        )
        for _ in range(8):
            sizes = random.integers(3, 12, size=random.integers(1, 4))
            ids, mask = fed(*([*map(int, random.integers(3, 7, size=size))] for size in sizes))
            found = run(augmentation, ids, mask, route)
            expected = augmentation.numpy(ids, mask, np.array([route]))
            assert by_row(found) == by_row(expected)
            assert found.ids.shape == expected.ids.shape
            assert (found.attended == expected.attended).all()


def expansion_of(source: Source) -> QueryAugmentation:
    assert isinstance(source.encoder, AugmentedEncoder)
    return source.encoder.augmentation


def write_pylate(folder: Path, **settings: Any) -> Path:
    """The same as PyLate saves it: no masks, no norms, and settings of its own."""
    write_colbert(folder)
    (folder / "sentence_bert_config.json").unlink()
    dense = {"activation_function": "torch.nn.modules.linear.Identity", "bias": False}
    write_json(folder / "1_Dense" / "config.json", dense)
    types = ("sentence_transformers.models.Transformer", "pylate.models.Dense.Dense")
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": kind}
        for place, (path, kind) in enumerate(zip(("", "1_Dense"), types, strict=True))
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "tokenizer_config.json", {"mask_token": "[MASK]", "pad_token": "[PAD]"})
    saved = {"query_prefix": "[Q] ", "document_prefix": "[D] ", "prompts": {}, **settings}
    write_json(folder / "config_sentence_transformers.json", saved)
    return folder


@pytest.mark.parametrize(
    ("settings", "limits", "widths"),
    [
        ({"query_expansion": None}, (24, 32), (0, 0)),
        ({"query_expansion": None, "query_length": 7}, (24, 7), (0, 0)),
        ({"query_expansion": {"strategy": "min", "length": 9, "token": "a"}}, (24, 32), (0, 9)),
        ({"document_length": 500}, (32, 9), (0, 9)),
    ],
)
def test_limits_of_vectors_of_tokens(
    settings: dict[str, Any], limits: tuple[int, int], widths: tuple[int, int], tmp_path: Path
) -> None:
    """None is beyond what the model takes."""
    found = expansion_of(open_source(write_colbert(tmp_path / "m", **settings)))
    assert (found.limits, found.widths) == (limits, widths)


@pytest.mark.parametrize(
    ("settings", "limits", "widths", "query"),
    [
        ({}, (40, 32), (0, 32), "[Q] "),
        ({"query_length": 12, "document_length": 20}, (20, 12), (0, 12), "[Q] "),
        ({"do_query_expansion": False}, (40, 40), (0, 0), "[Q] "),
        ({"prompts": {"query": "[Q] the "}}, (40, 32), (0, 32), "[Q] the "),
    ],
)
def test_pylate_s(
    settings: dict[str, Any],
    limits: tuple[int, int],
    widths: tuple[int, int],
    query: str,
    tmp_path: Path,
) -> None:
    """What it does besides its modules is what its settings say, else its defaults."""
    source = open_source(write_pylate(tmp_path / "m", **settings))
    found = expansion_of(source)
    assert (found.limits, found.widths) == (limits, widths)
    assert [step["step"] for step in source.recipe] == ["route", "dense", "normalize", "unpad"]
    assert source.prompts["query"] == query


BERT = "sentence_bert_config.json"


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        (BERT, {"query_expansion": {"strategy": "fixed", "length": 9}}, "'the mask token', which"),
        (BERT, {"query_expansion": {"strategy": "other", "length": 9}}, "strategy: .* found 'oth"),
        ("2_MultiVectorMask/config.json", {"keep_only_token_ids": [3]}, "keep_only_token_ids"),
    ],
)
def test_what_vectors_of_tokens_do_not_have_is_refused(
    file: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """A token that is not there, another way to fill queries up, and pictures among texts."""
    folder = write_colbert(tmp_path / "m")
    change_json(folder / file, **changes)
    with pytest.raises(InputError, match=message):
        open_source(folder)


def test_damaged_metadata_of_stanford_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="query_maxlen"):
        open_source(write_stanford(tmp_path / "m", {"query_maxlen": 0}))


POOLING = ("Pooling", {"embedding_dimension": 12, "pooling_mode": "mean"})


def with_settings(folder: Path, **settings: object) -> Path:
    """Write a BERT with these keys of sentence_bert_config.json."""
    write_sentence_transformers(folder, POOLING)
    write_json(folder / "sentence_bert_config.json", settings)
    return folder


def limits(folder: Path) -> tuple[dict[str, int], int]:
    """The limit of each route, and that of the tokenizer."""
    source = open_source(folder)
    found = expansion_of(source)
    assert isinstance(source.encoder, AugmentedEncoder)
    routes = dict(zip(source.encoder.routes, found.limits, strict=True))
    return routes, source.tokenizer.max_length


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"query_length": 6}, {"text": 32, "query": 6, "document": 32}),
        (
            {"query_length": 6, "document_length": 24, "max_seq_length": 9},
            {"text": 9, "query": 6, "document": 24},
        ),
    ],
)
@pytest.mark.parametrize("older", weekly_but(1, [False, True]))
def test_limits_of_texts_queries_and_documents(
    older: bool, settings: dict[str, object], expected: dict[str, int], tmp_path: Path
) -> None:
    """The tokenizer cuts at the largest, whichever that is, also if it is made of older files."""
    folder = with_settings(tmp_path / "model", **settings)
    if older:
        (folder / "tokenizer.json").unlink()
        lines = "".join(f"{token}\n" for token in dict.fromkeys(VOCABULARY))
        (folder / "vocab.txt").write_text(lines, "utf-8")
    assert limits(folder) == (expected, max(expected.values()))


def test_prompts_of_documents_have_their_limit(tmp_path: Path) -> None:
    """encode_document takes passage, too; another prompt is cut as a text is."""
    folder = with_settings(tmp_path / "model", query_length=6)
    prompts = {"prompts": {"passage": "", "other": ""}}
    write_json(folder / "config_sentence_transformers.json", prompts)
    source = open_source(folder)
    assert source.recipe[0]["prompts"] == {"passage": "document"}
    assert {*source.prompts} == {"query", "document", "passage", "other"}


@pytest.mark.parametrize("settings", [{}, {"max_seq_length": 9, "query_length": 9}])
def test_equal_limits_need_no_route(settings: dict[str, object], tmp_path: Path) -> None:
    """Limits that are all the usual one change nothing."""
    source = open_source(with_settings(tmp_path / "model", **settings))
    assert not isinstance(source.encoder, AugmentedEncoder)
    assert not source.prompts


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"query_length": 41}, "max length 41 exceeds max_position_embeddings 40; lower"),
        ({"document_length": 9, "query_expansion": {}}, "query_expansion: "),
    ],
)
def test_what_the_model_does_not_take_is_refused(
    settings: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A limit beyond the positions, and another way to change a query."""
    with pytest.raises(InputError, match=shown):
        open_source(with_settings(tmp_path / "model", **settings))
