"""Numbers of a head: labels of texts and of pairs, rerankers, and labels by entailment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.task_models import LABELS, write_classifier, write_labelled, write_pair_classifier
from models.folders.tiny_folders import CONFIG, change_json, write_bert
from polybake.baking.sources import open_source
from polybake.baking.tasks import Classify, ClassifyPairs, Known, Outputs, Rerank, ZeroShot, task_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError

CROSS_ENCODER = {"sentence_transformers": {"version": "5.1.0"}}


@pytest.mark.parametrize(
    ("labels", "changes", "task"),
    [
        (LABELS, {}, "classify"),
        (LABELS, {"architectures": ["BertModel"]}, "embed"),
        (LABELS, CROSS_ENCODER, "classify-pairs"),
        (("LABEL_0",), {}, "rerank"),
        (("LABEL_0",), CROSS_ENCODER | {"problem_type": "regression"}, "rerank"),
        (("NEUTRAL", "Entails"), {}, "zero-shot"),
        (("neutral", "joy"), {}, "classify"),
    ],
)
def test_the_task_is_found(
    labels: tuple[str, ...], changes: dict[str, object], task: str, tmp_path: Path
) -> None:
    """The head, its labels and a CrossEncoder's mark say it."""
    folder = write_labelled(tmp_path / "model", *labels)
    change_json(folder / "config.json", **changes)
    assert task_of(open_source(folder)).name == task


@pytest.mark.parametrize(
    ("task", "write"), [("classify", write_classifier), ("classify-pairs", write_pair_classifier)]
)
def test_labels_and_answers_are_in_the_file(task: str, write, tmp_path: Path) -> None:
    """Scores are probabilities in the labels' order; answers hold them best first."""
    head = read_head(write(tmp_path / "m.onnx"))
    contract = head.manifest.contract
    assert (contract.task, contract.settings) == (task, {"labels": list(LABELS)})
    assert (contract.output.name, contract.output.dimension) == ("scores", 4)
    assert (contract.pair and contract.pair.truncate) == (
        "longest_first" if task == "classify-pairs" else None
    )
    for case in head.fixture.cases:
        if contract.pair:
            assert [list(pair) for pair in case.texts] == case.call["texts"]
        scores = decode_vectors(case.embeddings)
        assert scores.sum(axis=1) == pytest.approx(1)
        for row, answer in zip(scores, case.answer, strict=True):
            expected = dict(zip(LABELS, map(float, row), strict=True))
            assert {one["label"]: one["score"] for one in answer} == expected
            assert [one["score"] for one in answer] == sorted(expected.values(), reverse=True)


def test_equal_scores_keep_their_order() -> None:
    """A sort that is not stable would turn them from language to language."""
    found = np.array([[0.25, 0.5, 0.25]], np.float32)
    (labels,) = Classify().answer(Outputs(found, known=Known({"labels": ["a", "b", "c"]})))
    assert [one["label"] for one in labels] == ["b", "a", "c"]
    assert [rank["index"] for rank in Rerank().answer(Outputs(found.T))] == [1, 0, 2]


def test_pairs_of_a_case_differ() -> None:
    """Each text stands first once, and before another one, so that a swap shows."""
    pairs = ClassifyPairs().texts(("a", "b", "c"), Known())
    assert [first for first, _ in pairs] == ["a", "b", "c"]
    assert [second for _, second in pairs][:2] == ["b", "c"]
    assert len({*pairs}) == 3


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["a", "b"], "id2label of config.json names 2 labels, and the steps give 4 numbers"),
        ([*"abca"], "the label 'a' stands twice in id2label"),
        (["a", "b", "", "c"], "the label of number 2 in id2label of config.json is empty"),
    ],
)
def test_labels_of_a_folder_are_refused(names: list[str], named: str, tmp_path: Path) -> None:
    """The label, and where it stands; nothing is written."""
    folder = write_labelled(tmp_path / "model", *LABELS)
    change_json(folder / "config.json", id2label=dict(zip("0123", names, strict=False)))
    with pytest.raises(InputError, match=named):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")
    assert not (tmp_path / "m.onnx").exists()


#: A head that was trained behind an embedding, as SetFit's is.
HEAD = [
    {"step": "pool", "mode": "mean"},
    {"step": "dense", "weight": "weight.npy", "bias": "bias.npy", "activation": "identity"},
    {"step": "activation", "function": "softmax"},
]


def test_a_head_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The head's layer comes from files, and its labels are named beside it."""
    random = np.random.default_rng(2)
    weight = random.normal(size=(3, CONFIG["hidden_size"])).astype(np.float32)
    bias = random.normal(size=3).astype(np.float32)
    np.save(tmp_path / "weight.npy", weight)
    np.save(tmp_path / "bias.npy", bias)
    monkeypatch.chdir(tmp_path)
    source = write_bert(tmp_path / "model")
    polybake.bake(source, "plain.onnx", name="m", steps=HEAD[:1])
    texts = ["the river", "a boat"]
    numbers = polybake.Embedder("plain.onnx").embed(texts).astype(np.float64) @ weight.T + bias
    expected = np.exp(numbers) / np.exp(numbers).sum(axis=1, keepdims=True)
    polybake.bake(source, "m.onnx", name="m", task="classify", labels=["a", "b", "c"], steps=HEAD)
    assert read_head(Path("m.onnx")).manifest.contract.settings == {"labels": ["a", "b", "c"]}
    assert polybake.Embedder("m.onnx").embed(texts) == pytest.approx(expected, abs=1e-6)


def test_pairs_are_in_the_file(tiny_rerank: Path) -> None:
    """Types reach the graph, the tokenizer is bare, and answers rank the documents of a call.

    No row is longer than the model takes, and the longest cases have just as many tokens.
    """
    head = read_head(tiny_rerank)
    contract = head.manifest.contract
    assert contract.pair is not None
    assert contract.pair.truncate == "longest_first"
    assert [one.feed for one in contract.inputs][-1] == "token_type_ids"
    assert '"post_processor":null' in head.tokenizer
    for case in head.fixture.cases:
        scores = decode_vectors(case.embeddings)[:, 0]
        assert case.call is not None
        assert [document for _, document in case.texts] == case.call["documents"]
        assert {query for query, _ in case.texts} == {case.call["query"]}
        places = [rank["index"] for rank in case.answer]
        assert sorted(places) == [*range(len(scores))]
        assert [rank["score"] for rank in case.answer] == sorted(map(float, scores), reverse=True)
    lengths = {case.id: [*map(len, case.input_ids)] for case in head.fixture.cases}
    assert max(map(max, lengths.values())) == lengths["one-over"][0] == contract.max_length
    assert polybake.Embedder(tiny_rerank).self_check() == 0.0


def test_types_are_fed_where_the_tokenizer_gives_them(tmp_path: Path) -> None:
    """tokenizer_config.json may say that the tokenizer gives no types."""
    folder = write_labelled(tmp_path / "model", "LABEL_0")
    change_json(folder / "tokenizer_config.json", model_input_names=["input_ids", "attention_mask"])
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m")
    assert [one.feed for one in report.manifest.contract.inputs] == ["input_ids", "attention_mask"]


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        (("contradiction", "neutral", "entailment"), [2, 0]),
        (("entailment", "neutral", "contradiction"), [0, 2]),
        (("entailment", "not_entailment"), [0, 1]),
        (("not_entailment", "entailment"), [1, 0]),
        (("neutral", "entailment", "contradiction"), [1, 2]),
        (("Contradicts", "Entails", "other"), [1, 0]),
        (("neutral", "CONTRADICTION", "entailment"), [2, 1]),
    ],
)
def test_contradiction_is_found_by_its_name(
    tmp_path: Path, labels: tuple[str, ...], places: list[int]
) -> None:
    """A model of two labels may call the other one by any name."""
    source = open_source(write_labelled(tmp_path / "model", *labels))
    assert task_of(source).recipe(source)[-1] == {"step": "select", "places": places}


def test_several_labels_without_contradiction_are_refused(tmp_path: Path) -> None:
    """The pipeline of transformers takes the label at the other end, whatever that says."""
    source = open_source(write_labelled(tmp_path / "m", "neutral", "entailment", "refuted"))
    with pytest.raises(InputError, match=r"refuted, .* begins with contra is"):
        task_of(source).recipe(source)


def test_each_text_is_paired_with_each_label(tiny_zero_shot: Path) -> None:
    """Only the text is cut; answers are softmax over the labels, or against contradiction.

    Cases have one label alone, several with one right, and several that may all be right.
    """
    head = read_head(tiny_zero_shot)
    contract = head.manifest.contract
    assert contract.pair is not None
    assert (contract.pair.truncate, contract.output.dimension) == ("only_first", 2)
    asked = set()
    for case in head.fixture.cases:
        call, numbers = case.call, np.exp(decode_vectors(case.embeddings).astype(np.float64))
        assert call is not None
        asked.add((len(call["labels"]), call["multi_label"]))
        assert len(case.texts) == len(call["texts"]) * len(call["labels"])
        rows = numbers.reshape(len(call["texts"]), len(call["labels"]), 2)
        entailed = rows[..., 0]
        alone = entailed / entailed.sum(axis=1, keepdims=True)
        several = call["multi_label"] or len(call["labels"]) == 1
        expected = entailed / rows.sum(axis=2) if several else alone
        for labels, row in zip(case.answer, expected, strict=True):
            assert {one["label"]: one["score"] for one in labels} == pytest.approx(
                dict(zip(call["labels"], row, strict=True))
            )
    assert asked == {(1, False), (3, False), (3, True)}


def test_one_label_is_weighed_against_its_contradiction() -> None:
    """A softmax over one label alone would always be 1. Source: transformers' pipeline."""
    call = {"labels": ["sailing"], "multi_label": False}
    answer = ZeroShot().answer(Outputs(np.log([[1, 3], [4, 1]]).astype(np.float32), call))
    assert [labels[0]["label"] for labels in answer] == ["sailing"] * 2
    assert [labels[0]["score"] for labels in answer] == pytest.approx([0.25, 0.8], abs=1e-6)


def test_numbers_of_any_size_have_scores() -> None:
    """Large and small numbers do not overflow."""
    found = np.array([[9000, 1], [8000, 0], [-9000, 0]] * 2, np.float32)
    for labels in (["a"], ["a", "b", "c"]):
        for multi_label in (False, True):
            call = {"labels": labels, "multi_label": multi_label}
            answer = ZeroShot().answer(Outputs(found, call))
            assert all(0 <= one["score"] <= 1 for row in answer for one in row)
