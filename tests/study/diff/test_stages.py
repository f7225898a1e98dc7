"""Two model files run on the same texts, stage by stage."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from models.files.varied import change_weight, write_varied
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Tolerance
from polybake.runtime.embedder import Embedder
from polybake.study.diff.parts import ModelParts, compare_parts
from polybake.study.diff.samples import golden_samples, search_samples
from polybake.study.diff.search_vectors import SearchVectors
from polybake.study.diff.stages import compare_stages, repacked, strictest


def differing(before: Path, after: Path) -> tuple[int, ...]:
    """The number of golden texts that differ in ids, in vectors of equal ids, and in vectors."""
    parts = compare_parts(before, after)
    return tuple(
        seen.differing for seen in compare_stages(parts, golden_samples(parts), SearchVectors())
    )


def cased(words: dict[str, Any]) -> None:
    """Make capitals unknown to the tokenizer."""
    words["normalizer"]["lowercase"] = False


def test_another_tokenizer_is_blamed_alone(every_feed: Path, tmp_path: Path) -> None:
    """Only the one text with a capital letter differs."""
    varied = write_varied(every_feed, tmp_path / "b.onnx", tokenizer=cased)
    assert differing(every_feed, varied) == (1, 0, 1)


def test_another_graph_is_blamed_alone(every_feed: Path, tmp_path: Path) -> None:
    """All ten texts differ, as each has a first position."""

    def shift(rows: np.ndarray) -> np.ndarray:
        rows[0] += 1
        return rows

    change = change_weight("position_rows", shift)
    varied = write_varied(every_feed, tmp_path / "b.onnx", graph=change)
    assert differing(every_feed, varied) == (0, 10, 10)


def test_renumbered_tokens_give_the_same_vectors(every_feed: Path, tmp_path: Path) -> None:
    """Swapped ids and swapped rows differ alone, and agree together."""
    vocab = json.loads(read_head(every_feed).tokenizer)["model"]["vocab"]
    pair = [vocab["e"], vocab["o"]]

    def swap(words: dict[str, Any]) -> None:
        numbers = words["model"]["vocab"]
        numbers["e"], numbers["o"] = numbers["o"], numbers["e"]

    def swap_rows(rows: np.ndarray) -> np.ndarray:
        rows[pair] = rows[pair[::-1]]
        return rows

    varied = write_varied(
        every_feed,
        tmp_path / "b.onnx",
        tokenizer=swap,
        graph=change_weight("token_rows", swap_rows),
    )
    ids, graphs, files = differing(every_feed, varied)
    assert ids > 0
    assert graphs == ids
    assert files == 0


def test_a_fed_prompt_is_part_of_the_graph_s_run(every_feed: Path, tmp_path: Path) -> None:
    """Another number for a prompt changes the vectors, and not the ids."""

    def other_value(terms: dict[str, Any]) -> None:
        terms["inputs"][4]["values"]["query"] = 5

    varied = write_varied(every_feed, tmp_path / "b.onnx", contract=other_value)
    assert differing(every_feed, varied) == (0, 3, 3)


@pytest.mark.parametrize(
    "model",
    ["every_feed_int8", "every_feed_bits", "tiny_rerank", "tiny_multi_vector", "tiny_sparse"],
)
def test_files_of_every_kind_are_what_they_are(
    model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Other bytes of a file change nothing, for integers, bits, pairs and several vectors."""
    path = request.getfixturevalue(model)
    assert differing(path, write_varied(path, tmp_path / "b.onnx", graph=noted)) == (0, 0, 0)


def noted(model: onnx.ModelProto) -> None:
    """Change the bytes of the file, and not its graph."""
    model.producer_name = "another"


@pytest.mark.parametrize("model", ["tiny_rerank", "tiny_multi_vector", "tiny_sparse"])
def test_files_of_every_kind_differ(
    model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Other rows for all tokens change vectors, and no ids."""
    path = request.getfixturevalue(model)
    name = "embeddings.word_embeddings.weight"
    change = change_weight(name, moved)
    ids, graphs, files = differing(path, write_varied(path, tmp_path / "b.onnx", graph=change))
    assert (ids, graphs) == (0, files)
    assert files > 0


def moved(rows: np.ndarray) -> np.ndarray:
    """Each row backwards."""
    return np.ascontiguousarray(rows[:, ::-1])


def test_own_texts_with_a_prompt(every_feed: Path, tmp_path: Path) -> None:
    """The user's texts are counted, and the one that differs is named."""
    parts = compare_parts(
        every_feed, write_varied(every_feed, tmp_path / "b.onnx", tokenizer=cased)
    )
    samples = search_samples(parts, [["a", "b", "C"]], "document")
    kept = SearchVectors()
    ids, graphs, files = compare_stages(parts, samples, kept)
    assert (ids.texts, ids.differing, ids.worst, files.worst) == (3, 1, "C", "C")
    assert graphs.largest == 0
    for role in ("document", "query"):
        before, after = kept.arrays(role)
        assert before.shape == (3, 7)
        assert [one for one in range(3) if not np.array_equal(before[one], after[one])] == [2]


def test_queries_and_documents_have_their_prompts(every_feed: Path, tmp_path: Path) -> None:
    """A prompt that only one of the files has moves only the texts that it is for."""
    fewer = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].pop("query")
    )
    parts, kept = compare_parts(every_feed, fewer), SearchVectors()
    compare_stages(parts, search_samples(parts, [["a", "b"]]), kept)
    documents, queries = kept.arrays("document"), kept.arrays("query")
    assert np.array_equal(*documents)
    assert not np.array_equal(*queries)
    model = Embedder(every_feed)
    assert np.array_equal(queries[0], model.embed(["a", "b"], prompt="query"))
    assert np.array_equal(queries[1], model.embed(["a", "b"]))


def test_vectors_of_another_type_are_kept_and_not_compared(
    every_feed: Path, every_feed_int8: Path
) -> None:
    """Only the token ids of such files are compared."""
    parts, kept = compare_parts(every_feed, every_feed_int8), SearchVectors()
    (ids,) = compare_stages(parts, search_samples(parts, [["a", "b"]], "query"), kept)
    assert (ids.texts, ids.differing) == (2, 0)
    assert [one.dtype.name for one in kept.arrays("document")] == ["float32", "int8"]


def test_ids_that_a_graph_has_no_row_for_are_left_out(every_feed: Path) -> None:
    """ONNX Runtime would take them from elsewhere, or stop."""
    contract = read_head(every_feed).manifest.contract
    small = contract.model_copy(update={"vocab_size": 5, "max_length": 3})
    assert repacked([1, 2, 4], contract, small) == [1, 2, 4]
    assert repacked([1, 5], contract, small) is None
    assert repacked([1, 2, 3, 4], contract, small) is None


def test_types_travel_between_vocabularies(tiny_rerank: Path) -> None:
    """A row holds types as multiples of the vocabulary's size, which may differ."""
    contract = read_head(tiny_rerank).manifest.contract
    larger = contract.model_copy(update={"vocab_size": contract.vocab_size + 10})
    row = [3, contract.vocab_size + 4]
    assert repacked(row, contract, larger) == [3, contract.vocab_size + 10 + 4]


def test_the_narrower_tolerance_holds(every_feed: Path) -> None:
    """A file that allows less decides what counts as the same."""
    before = read_head(every_feed)
    wide = Tolerance(max_abs=1.0, one_minus_cosine=1e-9)
    fixture = before.fixture.model_copy(update={"tolerances": {"cpu": wide}})
    after = replace(before, fixture_json=fixture.model_dump_json().encode("ascii"))
    found = strictest(ModelParts(before, after))
    assert found == Tolerance(max_abs=1e-5, one_minus_cosine=1e-9)
    assert strictest(ModelParts(after, before)) == found
