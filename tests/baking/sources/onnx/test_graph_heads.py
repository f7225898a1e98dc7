"""Graphs that end in numbers of a head: what a file beside them, or the user's task, makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

import polybake
from models.folders.tiny_folders import write_json
from models.onnx.tiny_onnx import BODY, HIDDEN, POOLED, TOKENS, encoder, expected_tokens
from models.onnx.tiny_onnx import write_encoder as write_files
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError

pytestmark = pytest.mark.slow

HEAD = np.random.default_rng(3).normal(size=(HIDDEN, 3)).astype(np.float32)
BASE = {"model_type": "bert", "architectures": ["BertModel"]}
CLASSES = BASE | {"architectures": ["BertForSequenceClassification"]}
MASKED = BASE | {"architectures": ["BertForMaskedLM"]}
TAGGER = BASE | {"architectures": ["BertForTokenClassification"]}
LABELS = {"id2label": {"0": "joy", "1": "anger", "2": "fear"}}
ENTAILS = {"id2label": {"0": "contradiction", "1": "neutral", "2": "entailment"}}
TAGS = {"id2label": {"0": "O", "1": "B-A", "2": "I-A"}}
TRANSFORMER = "sentence_transformers.base.modules.transformer.Transformer"
LISTED = [{"idx": 0, "name": "0", "path": "", "type": TRANSFORMER}]
CROSS = {"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.linear.Identity"}
SETTINGS = "config_sentence_transformers.json"
POOL = [{"step": "pool", "mode": "mean"}]

Numbers = NDArray[np.float64]


def write(
    folder: Path, columns: int, files: Mapping[str, Any], *outputs: str, each: bool = False
) -> Path:
    """An encoder whose graph ends in so many logits, of a text or of each token."""
    axes, of = ("batch, length", "last_hidden_state") if each else ("batch", "pooler_output")
    shown = ", ".join([*outputs, f"float[{axes}, {columns}] logits"])
    model = encoder(outputs=shown, body=f"{BODY}\nlogits = MatMul ({of}, head)")
    head = np.ascontiguousarray(HEAD[:, :columns])
    model.graph.initializer.append(onnx.numpy_helper.from_array(head, "head"))
    path = write_files(folder, model)
    for name, content in files.items():
        write_json(folder / name, content)
    return path


def is_given(path: Path, expected: Callable[[Numbers], Numbers]) -> None:
    """Each row of the golden cases is what this makes of the mean of its tokens."""
    for case in read_head(path).fixture.cases:
        for ids, row in zip(case.input_ids, decode_vectors(case.embeddings), strict=True):
            mean = expected_tokens(list(ids)).mean(axis=0)
            assert row == pytest.approx(expected(mean), abs=1e-5)


def score(mean: Numbers) -> Numbers:
    return mean @ HEAD[:, :1]


def sigmoid(mean: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-score(mean)))


def softmax(mean: Numbers) -> Numbers:
    odds = np.exp(mean @ HEAD)
    return odds / odds.sum()


def entailment(mean: Numbers) -> Numbers:
    return (mean @ HEAD)[[2, 0]]


def task(name: str, *labels: str, **others: Any) -> dict[str, Any]:
    """What is asked for."""
    return {"task": name, **({"labels": labels} if labels else {}), **others}


TWICE = [{"step": "scale", "factor": 2.0}]


@pytest.mark.parametrize(
    ("columns", "files", "asked", "made", "expected"),
    [
        (1, {}, task("rerank"), "rerank", sigmoid),
        (1, {"config.json": BASE}, task("rerank"), "rerank", sigmoid),
        (1, {"config.json": MASKED}, task("rerank"), "rerank", sigmoid),
        (1, {}, task("rerank", steps=TWICE), "rerank", lambda mean: 2 * score(mean)),
        (1, {}, task("classify", "rude"), "classify", sigmoid),
        (3, {}, task("classify", "a", "b", "c"), "classify", softmax),
        (3, {}, task("classify-pairs", "a", "b", "c"), "classify-pairs", softmax),
        (3, {"config.json": BASE | LABELS}, task("classify"), "classify", softmax),
        (3, {"config.json": CLASSES | LABELS}, {}, "classify", softmax),
        (3, {"config.json": CLASSES | ENTAILS}, {}, "zero-shot", entailment),
        (1, {SETTINGS: CROSS}, {}, "rerank", score),
        (1, {SETTINGS: CROSS, "modules.json": LISTED}, {}, "rerank", score),
    ],
)
def test_numbers_are_a_task_s(
    columns: int,
    files: Mapping[str, Any],
    asked: dict[str, Any],
    made: str,
    expected: Callable[[Numbers], Numbers],
    tmp_path: Path,
) -> None:
    """By the user, by config.json, or by the settings of a CrossEncoder."""
    path = write(tmp_path / "m", columns, files)
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", **asked)
    contract = report.manifest.contract
    assert (contract.task, report.manifest.verified) == (made, "source")
    is_given(report.path, expected)
    if made.startswith("classify"):
        labels = asked.get("labels") or LABELS["id2label"].values()
        assert contract.settings == {"labels": [*labels]}


@pytest.mark.parametrize(
    ("config", "asked", "outputs"),
    [(TAGGER | TAGS, {}, ()), (TAGGER | TAGS, {}, (TOKENS,)), (BASE | TAGS, task("tag"), ())],
)
def test_numbers_of_tokens_are_a_tagger_s(
    config: dict[str, Any], asked: dict[str, str], outputs: tuple[str, ...], tmp_path: Path
) -> None:
    """By config.json, or by the user where it names no head."""
    path = write(tmp_path / "m", 3, {"config.json": config}, *outputs, each=True)
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", **asked)
    assert (report.manifest.contract.task, report.manifest.verified) == ("tag", "source")


@pytest.mark.parametrize("asked", [{}, {"task": "tag"}])
def test_numbers_of_a_masked_language_model_are_no_tagger_s(
    asked: dict[str, str], tmp_path: Path
) -> None:
    """They have as many axes, and embed nothing."""
    path = write(tmp_path / "m", 3, {"config.json": MASKED | TAGS}, each=True)
    with pytest.raises(InputError, match="no output is surely the embeddings: logits"):
        polybake.bake(path, tmp_path / "out.onnx", name="m", **asked)


def test_two_numbers_of_each_token_are_an_answer_s_ends(tmp_path: Path) -> None:
    """They are outputs of their own."""
    body = f"""{BODY}
    two = MatMul (last_hidden_state, head)
    begin, end = Split <axis = 2> (two)
    start_logits = Squeeze <axes = [2]> (begin)
    end_logits = Squeeze <axes = [2]> (end)
    """
    outputs = ", ".join(f"float[batch_size, length] {one}_logits" for one in ("start", "end"))
    model = encoder(outputs=outputs, body=body)
    head = np.ascontiguousarray(HEAD[:, :2])
    model.graph.initializer.append(onnx.numpy_helper.from_array(head, "head"))
    path = write_files(tmp_path / "m", model)
    with pytest.raises(InputError, match=r'start_logits and end_logits is .* task = "answer" '):
        polybake.bake(path, tmp_path / "m.onnx", name="m")
    report = polybake.bake(path, tmp_path / "m.onnx", name="m", task="answer")
    assert (report.manifest.contract.task, report.manifest.verified) == ("answer", "source")


@pytest.mark.parametrize(
    ("columns", "files", "asked", "shown"),
    [
        (1, {}, task("embed"), 'say task = "rerank" or "zero-shot" or "classify-pairs" or "cla'),
        (1, {}, task("tag"), "ForSequenceClassification"),
        (1, {}, {"steps": []}, "no file beside it says what its output logits is for"),
        (3, {}, task("classify"), "LABEL_2, which say nothing; name the 3"),
        (3, {"config.json": BASE | {"id2label": {"0": "a"}}}, task("classify"), "LABEL_2, which"),
        (1, {SETTINGS: CROSS}, task("classify", "rude"), "CrossEncoder, whose labels are of pairs"),
    ],
)
def test_nothing_is_guessed(
    columns: int, files: Mapping[str, Any], asked: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """Neither a task nor labels; steps alone are for embeddings."""
    path = write(tmp_path / "m", columns, files)
    with pytest.raises(InputError, match=shown):
        polybake.bake(path, tmp_path / "out.onnx", name="m", **asked)


@pytest.mark.parametrize(
    ("each", "config"),
    [(False, BASE), (False, CLASSES | LABELS), (True, TAGGER | TAGS), (True, MASKED)],
)
def test_token_embeddings_still_embed(each: bool, config: dict[str, Any], tmp_path: Path) -> None:
    """Where the user lists steps, whatever head config.json names."""
    path = write(tmp_path / "m", 3, {"config.json": config}, TOKENS, each=each)
    is_given(polybake.bake(path, tmp_path / "out.onnx", name="m", steps=POOL).path, lambda one: one)


@pytest.mark.parametrize("steps", [None, []])
def test_modules_of_sentence_transformers_are_of_embeddings(
    steps: list[dict[str, object]] | None, tmp_path: Path
) -> None:
    """Logits beside its outputs change nothing, whatever config.json names."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    listed = [
        {"idx": place, "name": path, "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(kinds.items())
    ]
    (tmp_path / "m/1_Pooling").mkdir(parents=True)
    files = {"config.json": CLASSES, "modules.json": listed}
    pooling = {"1_Pooling/config.json": {"pooling_mode": "mean"}}
    path = write(tmp_path / "m", 1, files | pooling, TOKENS, POOLED)
    model = onnx.load(path)
    model.graph.output[1].name = "sentence_embedding"
    named = onnx.helper.make_node("Identity", ["pooler_output"], ["sentence_embedding"])
    model.graph.node.append(named)
    onnx.save(model, path)
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", steps=steps)
    is_given(report.path, lambda mean: mean)
