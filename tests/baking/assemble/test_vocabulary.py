"""A graph takes the token ids that its tables have; other tokens are dropped or refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from onnxscript import GraphBuilder, ir
from tokenizers import AddedToken, Tokenizer, models

from polybake.baking.assemble.vocabulary import added_tokens, fitted, table_rows
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer


def tokenizer(words: int, *added: str) -> BakedTokenizer:
    made = Tokenizer(models.WordLevel({f"w{i}": i for i in range(words)}, unk_token="w0"))
    made.add_tokens([AddedToken(token) for token in added])
    return BakedTokenizer(made.to_str(), 8, 0, "right")


def builder() -> tuple[GraphBuilder, ir.Value]:
    made = GraphBuilder(ir.Graph([], [], nodes=[], opset_imports={"": 18}))
    return made, made.input("input_ids", ir.DataType.INT64, ["batch", "sequence"])


def table(made: GraphBuilder, rows: int) -> ir.Value:
    return made.op.initializer(ir.tensor(np.zeros((rows, 2), np.float32)), f"table{rows}")


def test_the_smallest_table_counts() -> None:
    """A graph takes only ids that all tables have, behind a cast and in a route's branch, too."""
    made, ids = builder()
    made.op.Gather(table(made, 7), ids)
    made.op.Gather(table(made, 5), made.op.Cast(ids, to=ir.DataType.INT32))
    assert table_rows(ids) == 5
    made, ids = builder()
    rows = table(made, 6)
    inner = [ir.node("Gather", [rows, ids]) for _ in range(2)]
    one, other = (ir.Graph([], node.outputs, nodes=[node]) for node in inner)
    made.graph.append(ir.node("If", [ids], {"then_branch": one, "else_branch": other}))
    assert table_rows(ids) == 6


def test_a_column_is_no_row() -> None:
    """A Gather of another axis, or of the ids themselves, says nothing of the table."""
    made, ids = builder()
    made.op.Gather(table(made, 3), ids, axis=1)
    made.op.Gather(ids, [0])
    assert table_rows(ids) is None


@pytest.mark.parametrize(("added", "rows", "size"), [(["extra"], None, 5), ([], 8, 8)])
def test_without_a_table_the_tokenizer_decides(
    added: list[str], rows: int | None, size: int
) -> None:
    """A bag of words has a column for each of its words; tables are padded to round sizes."""
    same = tokenizer(4, *added)
    assert fitted(same, rows) == (same, size)


def test_an_added_token_without_a_row_is_dropped() -> None:
    """Gemma 3 names an image token that its table has no row for."""
    found, size = fitted(tokenizer(4, "<image>"), 4)
    assert size == 4
    assert [one["content"] for one in json.loads(found.json)["added_tokens"]] == []
    assert found.encode(["<image>"]) == [[0]]
    assert added_tokens(tokenizer(4, "<image>")) - added_tokens(found) == {"<image>"}


def test_a_word_without_a_row_is_refused_by_name() -> None:
    """Any text may hold such a word, which would make a client fail."""
    with pytest.raises(InputError, match=r"2 ids .* 4 rows has none, such as 'w4' \(4\), 'w5'"):
        fitted(tokenizer(6), 4)
