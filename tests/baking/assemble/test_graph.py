"""What an encoder's graph gets, the ids that it takes, and whether one file holds it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnxscript import GraphBuilder, ir
from tokenizers import AddedToken, Tokenizer, models

from models.files.task_models import write_spans
from models.folders.tiny_folders import CONFIG, write_bert
from polybake.baking.assemble.build import seek
from polybake.baking.assemble.contract import added_tokens, fitted, table_rows
from polybake.baking.assemble.fold import fold
from polybake.baking.assemble.model_file import check_fits
from polybake.baking.graph.write import write_to_run
from polybake.baking.layers.network import new_model
from polybake.baking.sources import open_source
from polybake.baking.sources.source import EncoderGraph
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer
from polybake.steps import Dropout, Normalize, Pool, Quantize, Truncate


def test_gives_the_result_of_each_step(tmp_path: Path) -> None:
    """Each step continues the one before; one without operators gives what it was given."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    pooled, kept, normalized = fold([Pool(mode="mean"), Dropout(), Normalize()], graph).results
    assert kept is pooled
    assert pooled.shape == normalized.shape == ir.Shape(["batch", 12])
    assert normalized.producer().inputs[0] is pooled


def test_names_the_output(tmp_path: Path) -> None:
    """The last result is the graph's one output, under the contract's name."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    steps = [Pool(mode="mean")]
    assert fold(steps, graph).output.dimension == 12
    assert [value.name for value in graph.model.graph.outputs] == ["sentence_embedding"]


def test_quantize_stands_last(tmp_path: Path) -> None:
    """The floats before quantization are a second output."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    steps = [Pool(mode="mean"), Truncate(dimension=8), Quantize(precision="ubinary")]
    output = fold(steps, graph).output
    assert (output.dtype, output.dimension, output.packed_bits) == ("uint8", 1, True)
    names = [value.name for value in graph.model.graph.outputs]
    assert names == ["sentence_embedding", "unquantized_embedding"]


FED = {
    "input_ids": np.array([[2, 5, 3, 6, 7, 3]]),
    "attention_mask": np.ones((1, 6), np.int64),
}
TYPES = np.array([[0, 0, 0, 1, 1, 1]])
MARKED = np.array([[0, 0, 0, 3, 3, 1]])


def run(graph: EncoderGraph, path: Path, types: np.ndarray | None) -> list[np.ndarray]:
    """The embeddings of an encoder, and the mask of the sought tokens if it has one."""
    state = graph.state
    found = [state.x] if state.sought is None else [state.x, state.sought]
    for number, value in enumerate(found):
        value.name = f"found_{number}"
        graph.model.graph.outputs.append(value)
    write_to_run(graph.model, path)
    fed = FED | ({} if types is None else {"token_type_ids": types})
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, fed)


@pytest.mark.parametrize("typed", [True, False])
def test_the_encoder_sees_its_own_types(typed: bool, tmp_path: Path) -> None:
    """An encoder with types gets its own, without the mark; one without types gets none."""
    folder = write_spans(tmp_path / "model")
    encoder = open_source(folder).encoder.for_pairs(lambda: typed)
    plain = run(encoder.place(), tmp_path / "plain.onnx", TYPES if typed else None)
    graph = seek(encoder.place())
    assert [one.feed for one in graph.inputs] == [*FED, "token_type_ids"]
    tokens, sought = run(graph, tmp_path / "seek.onnx", MARKED)
    assert (tokens == plain[0]).all()
    assert sought.tolist() == [[0, 0, 0, 1, 1, 0]]
    assert tokens.shape[-1] == CONFIG["hidden_size"]


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


ROWS = 1000
CONTRACT = Contract(
    inputs=(Input(name="ids", feed="input_ids"),),
    output=Output(name="product", dimension=300),
    vocab_size=ROWS,
    max_length=8,
    pad_id=0,
)


def model() -> ir.Model:
    """A token table of 1.2 MB, and a product with a weight of 0.36 MB."""
    built = new_model()
    builder = GraphBuilder(built.graph)
    ids = builder.input("ids", ir.DataType.INT64, ["n"])
    rows = builder.op.Gather(builder.initializer(unread([ROWS, 300]), "table"), ids)
    product = builder.op.MatMul(rows, builder.initializer(unread([300, 300]), "weight"))
    builder.add_output(product, "product")
    return built


def unread(shape: list[int]) -> ir.LazyTensor:
    return ir.LazyTensor(lambda: pytest.fail("was read"), ir.DataType.FLOAT, ir.Shape(shape))


BOTH = (
    r'set weights = "beside" or precision = "int8" \(0\.0 GB\) or precision = "int4" \(0\.0 GB\) '
    r"in \[model\]"
)


@pytest.mark.parametrize(
    ("largest", "remedies"),
    [
        (700_000, BOTH),
        (375_000, r'set weights = "beside" or precision = "int4" \(0\.0 GB\) in \[model\]'),
        (200_000, r'set weights = "beside" in \[model\]'),
    ],
)
def test_the_settings_that_fit_are_named(largest: int, remedies: str) -> None:
    message = rf"out\.onnx: would have 78\d{{4}} bytes, .* holds at most {largest}; {remedies}$"
    with pytest.raises(InputError, match=message):
        check_fits(model(), "float32", CONTRACT, Path("out.onnx"), largest)


def test_what_may_fit_is_read() -> None:
    """A float32 checkpoint may hold numbers of 16 bits."""
    check_fits(model(), "float32", CONTRACT, Path("out.onnx"), 800_000)
    check_fits(model(), "int8", CONTRACT, Path("out.onnx"), 500_000)
    check_fits(model(), "int4", CONTRACT, Path("out.onnx"), 375_000)
    with pytest.raises(InputError, match=r"would have 39\d{4} bytes"):
        check_fits(model(), "int8", CONTRACT, Path("out.onnx"), 375_000)
