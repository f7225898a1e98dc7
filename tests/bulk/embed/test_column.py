"""A table's texts get vectors of the type that ``polybake embed`` writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import polybake
from polybake.base.modelfile.container import read_head
from polybake.bulk.embed.model_file import ModelFile
from polybake.errors import CheckFailed, InputError
from polybake.runtime.prompt import Prompt
from polybake.runtime.runner import Runner

pa = pytest.importorskip("pyarrow")

from polybake.bulk.embed.column import Column  # noqa: E402

TEXTS = [letter * count for count in range(1, 11) for letter in ("a", "b c ", "", "d, e.")]

#: A column that claims to be UTF-8 and is not.
DAMAGED = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
)


@pytest.mark.parametrize(
    ("prompt", "name"),
    [(Prompt(), "document"), (Prompt("query"), "query"), (Prompt(role="query"), "query")],
)
def test_each_row_has_its_vector(every_feed_default: Path, prompt: Prompt, name: str) -> None:
    """The prompt asked for is used, and the column's record names the model."""
    table = pa.table({"text": TEXTS, "id": range(len(TEXTS))})
    found = Column(ModelFile.read(every_feed_default, prompt)).added_to(table)
    assert found.drop_columns("embedding") == table
    field = found.schema.field("embedding")
    assert field.type == pa.list_(pa.float32(), 7)
    record = json.loads(field.metadata[b"polybake.embed"])
    assert record["model"]["prompt"] == name
    assert record["model"]["fingerprint"] == read_head(every_feed_default).manifest.fingerprint
    assert record["texts"] == {"column": "text"}
    expected = polybake.Embedder(every_feed_default).embed(TEXTS, prompt=name)
    vectors = np.array(found["embedding"].to_pylist(), np.float32)
    assert vectors == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("rows", [[], pa.array([], pa.string())])
def test_no_rows_have_no_vectors(every_feed: Path, rows: object) -> None:
    """A table without rows gets the column, of the same type."""
    found = Column(ModelFile.read(every_feed, Prompt())).added_to(pa.table({"text": rows}))
    assert found.schema.field("embedding").type == pa.list_(pa.float32(), 7)
    assert found.num_rows == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"text": ["a", None]}), "'text' is null; expected a text"),
        (pa.table({"text": [1]}), "column 'text' holds 1, expected a text"),
        (pa.table({"body": ["a"]}), "has no column 'text'; choose one of: body"),
        (pa.table({"text": ["a"], "embedding": [1]}), "has a column 'embedding' already"),
        (pa.table({"text": DAMAGED}), "'text' is not valid Unicode"),
    ],
)
def test_a_wrong_table_is_refused(every_feed: Path, table: pa.Table, message: str) -> None:
    """The message says which column or value is wrong."""
    with pytest.raises(InputError, match=message):
        Column(ModelFile.read(every_feed, Prompt())).added_to(table)


def test_a_damaged_vector_is_no_result(every_feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text that it belongs to is named."""
    damaged = np.ones((2, 7), np.float32)
    damaged[1, 3] = np.nan
    monkeypatch.setattr(Runner, "embed", lambda *_: damaged)
    with pytest.raises(CheckFailed, match="the embedding of 'b' holds NaN or infinity; drop"):
        Column(ModelFile.read(every_feed, Prompt())).vectors(["a", "b"])
