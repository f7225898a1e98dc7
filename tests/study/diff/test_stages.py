"""Two model files run on the same texts, stage by stage, and the figures of their vectors."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from models.files.every_feed import TEXTS
from models.files.varied import change_weight, write_varied
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.tolerance import Slack, Tolerance
from polybake.runtime.embedder import Embedder
from polybake.runtime.prompt import Prompt
from polybake.study.diff.parts import ModelParts, compare_parts
from polybake.study.diff.samples import (
    built_in_texts,
    golden_samples,
    search_samples,
)
from polybake.study.diff.search_vectors import SearchVectors
from polybake.study.diff.stage_result import StageResult
from polybake.study.diff.stages import compare_stages, repacked, strictest
from polybake.verification.verdict import Stage


def test_golden_texts_are_taken_once(every_feed: Path, every_feed_left: Path) -> None:
    """Golden texts of both files are taken once, each with its prompt."""
    found = [
        (one.prompt.name, one.texts)
        for one in golden_samples(compare_parts(every_feed, every_feed_left))
    ]
    assert [(prompt, texts) for _, prompt, texts in TEXTS] == found[: len(TEXTS)]
    assert found[len(TEXTS) :] == [("query", ("a b",)), ("document", ("a b",))]


def test_a_prompt_of_one_file_has_no_texts(every_feed: Path, tmp_path: Path) -> None:
    """A prompt that only one file has cannot be compared."""
    fewer = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].pop("query")
    )
    prompts = {one.prompt.name for one in golden_samples(compare_parts(every_feed, fewer))}
    assert prompts == {None, "document"}


def test_integers_bring_the_slack_of_each_text(every_feed_int8: Path) -> None:
    """Slack travels with each text, so that a number at an edge is no difference."""
    for sample in golden_samples(compare_parts(every_feed_int8, every_feed_int8)):
        assert [one.values.shape for one in sample.slacks] == [(1, 7)] * len(sample.texts)


def roles(before: Path, after: Path) -> list[tuple[Prompt, list[str]]]:
    """The prompts and roles with which texts are embedded for a search."""
    parts = compare_parts(before, after)
    return [(one.prompt, [*one.roles]) for one in search_samples(parts, [["a"]])]


def test_texts_are_documents_and_queries(every_feed: Path, tmp_path: Path) -> None:
    """Texts are embedded twice only if a file has a prompt for a role."""
    bare = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].clear()
    )
    each = [(Prompt(role=role), [role]) for role in ("document", "query")]
    assert roles(every_feed, every_feed) == each
    assert roles(bare, every_feed) == each
    assert roles(bare, bare) == [(Prompt(role="document"), ["document", "query"])]


def test_another_default_prompt_is_what_is_compared(every_feed: Path, tmp_path: Path) -> None:
    """If default prompts differ, texts are embedded with them, as ``embed`` does."""
    other = write_varied(
        every_feed,
        tmp_path / "b.onnx",
        contract=lambda terms: terms.update(default_prompt="query"),
    )
    assert roles(every_feed, other) == [(Prompt(), ["document", "query"])]


def test_scores_are_not_searched(tiny_zero_shot: Path, tiny_multi_vector: Path) -> None:
    """Models of scores, and of several vectors a text, have no search."""
    for model in (tiny_zero_shot, tiny_multi_vector):
        assert not any(names for _, names in roles(model, model))


def test_built_in_texts_are_enough_and_told_once(every_feed: Path) -> None:
    """The built-in texts are sentences, and then the golden texts that are not empty."""
    (texts,) = built_in_texts(compare_parts(every_feed, every_feed))
    golden = {text for _, _, texts in TEXTS for text in texts if text}
    assert len(texts) == len(set(texts)) == 200 + len({*golden, "a b"})
    assert {*golden, "a b"} <= {*texts}


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


def test_the_figures_are_those_of_the_vectors() -> None:
    """The figures of one equal and one turned vector are those of a turn by 60 degrees."""
    seen = StageResult(Stage.EMBED)
    before = np.array([[2.0, 0.0, 0.0]], np.float32)
    turned = np.array([[1.0, math.sqrt(3), 0.0]], np.float32)
    seen.add_vectors("same", before, before)
    seen.add_vectors("turned", before, turned)
    assert (seen.texts, seen.differing, seen.worst) == (2, 1, "turned")
    assert seen.largest == pytest.approx(math.sqrt(3) / 2)  # of a length of 2
    assert seen.cosines == pytest.approx((0.5, 0.505, 0.75))


@pytest.mark.parametrize(
    ("shifts", "worst"),
    [
        ({"little": 0.1, "most": 0.3, "less": 0.2}, "most"),
        # A blank text teaches nobody what differs.
        ({"": 0.9, "shown": 0.1, " ": 0.8}, "shown"),
        ({"": 0.9}, ""),
    ],
)
def test_the_worst_text_is_kept(shifts: dict[str, float], worst: str) -> None:
    seen = StageResult(Stage.EMBED)
    before = np.array([[1.0, 0.0, 0.0]], np.float32)
    for name, shift in shifts.items():
        seen.add_vectors(name, before, before + np.float32(shift))
    assert seen.worst == worst


def test_within_the_tolerance_is_the_same() -> None:
    """A small difference counts as equal, and its size is still told."""
    seen = StageResult(Stage.EMBED)
    before = np.array([[1.0, 0.0, 0.0]], np.float32)
    seen.add_vectors("a", before, before + np.float32(5e-6))
    assert (seen.differing, seen.worst) == (0, None)
    assert seen.largest == pytest.approx(5e-6, rel=0.1)


def test_another_number_of_vectors_differs() -> None:
    """A text differs if one file gives it fewer vectors, as when it leaves tokens out."""
    seen = StageResult(Stage.EMBED)
    seen.add_vectors("a", np.ones((3, 4), np.float32), np.ones((2, 4), np.float32))
    assert (seen.texts, seen.differing, seen.worst) == (1, 1, "a")


def test_what_is_no_number_differs_most() -> None:
    """NaN counts as an infinite difference and has no cosine."""
    seen = StageResult(Stage.EMBED)
    before = np.ones((1, 3), np.float32)
    seen.add_vectors("nan", before, before * np.float32("nan"))
    seen.add_vectors("far", before, -before)
    assert (seen.differing, seen.worst, seen.largest) == (2, "nan", math.inf)
    assert seen.cosines == pytest.approx((-1, -1, -1))


def test_zeros_have_no_direction() -> None:
    """A text without tokens is zeros in both files, and equal."""
    seen = StageResult(Stage.EMBED)
    seen.add_vectors("", np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32))
    assert (seen.differing, seen.cosines) == (0, None)


def test_integers_differ_by_more_than_their_slack() -> None:
    """Integers without slack differ by any step; those with slack by more than it."""
    seen = StageResult(Stage.EMBED, integers=True)
    before, after = np.array([[5, 5]], np.int8), np.array([[6, 5]], np.int8)
    seen.add_vectors("edge", before, after, Slack(np.array([[1, 0]], np.uint8), packed_bits=False))
    assert (seen.differing, seen.largest, seen.unit) == (0, 1, "steps")
    seen.add_vectors("wrong", before, after)
    assert (seen.differing, seen.worst) == (1, "wrong")


def test_packed_bits_are_counted() -> None:
    """Three bits of one byte count as three, and bytes have no cosine."""
    seen = StageResult(Stage.EMBED, integers=True, packed_bits=True)
    seen.add_vectors("a", np.array([[0b0111]], np.uint8), np.array([[0b0000]], np.uint8))
    assert (seen.differing, seen.largest, seen.unit, seen.cosines) == (1, 3, "bits", None)
