"""Graphs whose numbers only the user's task explains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from typer.testing import CliRunner

import polybake
from models.folders.tiny_folders import write_json
from models.onnx.tiny_onnx import (
    BODY,
    HIDDEN,
    POOLED,
    TOKENS,
    encoder,
    expected_tokens,
    write_encoder,
)
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.cli.main import app
from polybake.errors import InputError

pytestmark = pytest.mark.slow

HEAD = np.random.default_rng(3).normal(size=(HIDDEN, 3)).astype(np.float32)
BASE = {"model_type": "bert", "architectures": ["BertModel"]}
LABELS = {"0": "joy", "1": "anger", "2": "fear"}
POOL = [{"step": "pool", "mode": "mean"}]
SETTINGS = "config_sentence_transformers.json"


def write(folder: Path, columns: int, config: object = BASE, *, of: str = "pooler_output") -> Path:
    """An encoder whose graph ends in so many logits, of a text or of each token."""
    axes = "batch_size, length" if of == "last_hidden_state" else "batch_size"
    body = f"{BODY}\nlogits = MatMul ({of}, head)"
    model = encoder(outputs=f"float[{axes}, {columns}] logits", body=body)
    head = np.ascontiguousarray(HEAD[:, :columns])
    model.graph.initializer.append(onnx.numpy_helper.from_array(head, "head"))
    path = write_encoder(folder, model)
    if config is not None:
        write_json(folder / "config.json", config)
    return path


def rows(path: Path) -> list[tuple[list[int], np.ndarray]]:
    return [
        (list(ids), row)
        for case in read_head(path).fixture.cases
        for ids, row in zip(case.input_ids, decode_vectors(case.embeddings), strict=True)
    ]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("config", [None, BASE, {"architectures": ["BertForMaskedLM"]}])
def test_a_reranker(config: object, tmp_path: Path) -> None:
    """One number becomes a relevance as CrossEncoder makes one of it: by a sigmoid."""
    path = write(tmp_path / "m", 1, config)
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", task="rerank")
    assert (report.manifest.contract.task, report.manifest.verified) == ("rerank", "source")
    assert report.manifest.contract.pair is not None
    for ids, score in rows(report.path):
        assert score == pytest.approx(
            sigmoid(expected_tokens(ids).mean(axis=0) @ HEAD[:, :1]), abs=1e-5
        )


def test_a_reranker_with_steps_of_the_users_own(tmp_path: Path) -> None:
    """They begin with the numbers, so that a score may be anything else."""
    path = write(tmp_path / "m", 1)
    steps = [{"step": "scale", "factor": 2.0}]
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", task="rerank", steps=steps)
    for ids, score in rows(report.path):
        assert score == pytest.approx(2 * expected_tokens(ids).mean(axis=0) @ HEAD[:, :1], abs=1e-5)


@pytest.mark.parametrize("task", ["classify", "classify-pairs"])
@pytest.mark.parametrize("own", [True, False])
def test_a_classifier(task: str, own: bool, tmp_path: Path) -> None:
    """Labels are the user's, or those of config.json; scores are a softmax."""
    path = write(tmp_path / "m", 3, BASE if own else BASE | {"id2label": LABELS})
    labels = ("a", "b", "c") if own else ()
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", task=task, labels=labels)
    expected = [*labels] or [*LABELS.values()]
    assert report.manifest.contract.settings == {"labels": expected}
    for ids, scores in rows(report.path):
        odds = np.exp(expected_tokens(ids).mean(axis=0) @ HEAD)
        assert scores == pytest.approx(odds / odds.sum(), abs=1e-5)


def test_a_classifier_of_one_label(tmp_path: Path) -> None:
    """A softmax over one number would always be 1."""
    path = write(tmp_path / "m", 1)
    out = tmp_path / "out.onnx"
    for ids, score in rows(
        polybake.bake(path, out, name="m", task="classify", labels=["rude"]).path
    ):
        assert score == pytest.approx(
            sigmoid(expected_tokens(ids).mean(axis=0) @ HEAD[:, :1]), abs=1e-5
        )


def test_labels_are_the_users_to_name(tmp_path: Path) -> None:
    """Where config.json has none, or those of another number."""
    for number, config in enumerate((BASE, BASE | {"id2label": {"0": "a", "1": "b"}})):
        path = write(tmp_path / f"{number}", 3, config)
        with pytest.raises(InputError, match=r"LABEL_2, which say nothing; name the 3 there or in"):
            polybake.bake(path, tmp_path / "out.onnx", name="m", task="classify")


def test_a_tagger(tmp_path: Path) -> None:
    """Numbers of each token are a tagger's."""
    config = BASE | {"id2label": {"0": "O", "1": "B-A", "2": "I-A"}}
    path = write(tmp_path / "m", 3, config, of="last_hidden_state")
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", task="tag")
    assert (report.manifest.contract.task, report.manifest.verified) == ("tag", "source")
    config = config | {"architectures": ["BertForMaskedLM"]}
    write_json(tmp_path / "m/config.json", config)
    with pytest.raises(InputError, match="no output is surely the embeddings: logits"):
        polybake.bake(path, tmp_path / "out.onnx", name="m", task="tag")


def test_an_answerer(tmp_path: Path) -> None:
    """Two outputs of each token are an answer's ends."""
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
    path = write_encoder(tmp_path / "m", model)
    with pytest.raises(InputError, match=r'start_logits and end_logits is .* task = "answer" '):
        polybake.bake(path, tmp_path / "out.onnx", name="m")
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", task="answer")
    assert (report.manifest.contract.task, report.manifest.verified) == ("answer", "source")


@pytest.mark.parametrize("asked", [{}, {"task": "embed"}, {"task": "tag"}, {"steps": []}])
def test_without_a_task_nothing_is_guessed(asked: dict[str, object], tmp_path: Path) -> None:
    """The error names the task and the architecture; steps alone are for embeddings."""
    path = write(tmp_path / "m", 1)
    shown = (
        "model.onnx: no file beside it says what its output logits is for; expected .* ends in "
        r"ForSequenceClassification in config.json \(architectures\); name it there, or say "
        'task = "rerank" or "zero-shot" or "classify-pairs" or "classify" '
    )
    with pytest.raises(InputError, match=shown):
        polybake.bake(path, tmp_path / "out.onnx", name="m", **asked)  # type: ignore[arg-type]


def test_token_embeddings_come_first(tmp_path: Path) -> None:
    """A file that gives them, too, embeds as before."""
    path = write(tmp_path / "m", 1)
    model = onnx.load(path)
    (tokens,) = encoder(outputs=TOKENS).graph.output
    model.graph.output.append(tokens)
    onnx.save(model, path)
    report = polybake.bake(path, tmp_path / "out.onnx", name="m", steps=POOL)
    for ids, vector in rows(report.path):
        assert vector == pytest.approx(expected_tokens(ids).mean(axis=0), abs=1e-5)


@pytest.mark.parametrize("modules", [False, True])
def test_a_cross_encoders_settings_say_it(modules: bool, tmp_path: Path) -> None:
    """They name the class, and the function of its number; modules.json lists what it holds."""
    path = write(tmp_path / "m", 1)
    identity = {"activation_fn": "torch.nn.modules.linear.Identity"}
    write_json(tmp_path / "m" / SETTINGS, {"model_type": "CrossEncoder", **identity})
    if modules:
        kind = "sentence_transformers.base.modules.transformer.Transformer"
        listed = [{"idx": 0, "name": "0", "path": "", "type": kind}]
        write_json(tmp_path / "m" / "modules.json", listed)
    report = polybake.bake(path, tmp_path / "out.onnx", name="m")
    assert report.manifest.contract.task == "rerank"
    for ids, score in rows(report.path):
        assert score == pytest.approx(expected_tokens(ids).mean(axis=0) @ HEAD[:, :1], abs=1e-5)
    with pytest.raises(InputError, match="is a CrossEncoder, whose labels are of pairs"):
        polybake.bake(path, tmp_path / "out.onnx", name="m", task="classify", labels=["rude"])


def test_a_sentence_transformers_modules_are_of_embeddings(tmp_path: Path) -> None:
    """Logits beside its outputs change nothing, whatever config.json names."""
    path = write(tmp_path / "m", 1, BASE | {"architectures": ["BertForSequenceClassification"]})
    model = onnx.load(path)
    for outputs in (TOKENS, POOLED.replace("pooler_output", "sentence_embedding")):
        model.graph.output.append(encoder(outputs=outputs).graph.output[0])
    model.graph.node.append(
        onnx.helper.make_node("Identity", ["pooler_output"], ["sentence_embedding"])
    )
    onnx.save(model, path)
    kind = "sentence_transformers.models"
    listed = [
        {"idx": 0, "name": "0", "path": "", "type": f"{kind}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{kind}.Pooling"},
    ]
    write_json(tmp_path / "m/modules.json", listed)
    (tmp_path / "m/1_Pooling").mkdir()
    write_json(tmp_path / "m/1_Pooling/config.json", {"pooling_mode": "mean"})
    for steps in (None, []):
        report = polybake.bake(path, tmp_path / "out.onnx", name="m", steps=steps)
        for ids, vector in rows(report.path):
            assert vector == pytest.approx(expected_tokens(ids).mean(axis=0), abs=1e-5)


def test_init_takes_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its polybake.toml bakes."""
    path = write(tmp_path / "m", 1)
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    assert run.invoke(app, ["init", str(path), "--name", "m"]).exit_code
    asked = run.invoke(app, ["init", str(path), "--name", "m", "--task", "rerank"])
    assert not asked.exit_code, asked.output
    assert not run.invoke(app, ["bake"]).exit_code
    assert read_head(tmp_path / "build/m.onnx").manifest.contract.task == "rerank"
