"""What clients do with arguments: every task has cases, and each says what it expects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.verification.harness.protocol import (
    Answer,
    Arguments,
    Errored,
    Results,
    Skipped,
    encode_request,
)
from polybake.verification.judging.arguments import ArgumentCase, argument_cases

KINDS = get_args(Errored.model_fields["kind"].annotation)


@pytest.mark.parametrize("task", ["embed", *TASK_MODELS])
def test_every_task_has_cases(task: str, every_feed: Path, tmp_path: Path) -> None:
    """Each can be sent, names its model's own limits, and expects an answer or a known error."""
    model = every_feed if task == "embed" else TASK_MODELS[task](tmp_path / "model.onnx")
    head = read_head(model)
    cases = argument_cases(head.manifest.contract, head.fixture)
    assert len(cases) >= 3
    for case in cases:
        sent = encode_request(Arguments.model_validate(case.request))
        assert json.loads(sent) == {"seq": 0, **case.request}
        assert b"$" not in sent or b"${x}" in sent, case.id
        assert case.kind in (*KINDS, None), case.id
        assert (case.kind is None) == (case.answer is not None), case.id


def error(kind: str, index: int | None = None) -> Errored:
    return Errored(seq=0, errored=True, kind=kind, message="m", index=index)


@pytest.mark.parametrize(
    ("expected", "found", "wrong"),
    [
        ({"kind": "argument"}, error("argument"), ""),
        ({"kind": "argument"}, error("internal"), "kind internal, expected an error of kind argum"),
        ({"kind": "argument"}, Results(seq=0, results=[]), "an answer, expected an error"),
        ({"kind": "argument"}, Skipped(seq=0, skipped=True, reason="no"), "skipped: no"),
        ({"kind": "invalid_text", "index": 1}, Skipped(seq=0, skipped=True, reason="no"), ""),
        ({"kind": "invalid_text", "index": 1}, error("invalid_text", 1), ""),
        ({"kind": "invalid_text", "index": 1}, error("invalid_text", 0), "at index 0, expected"),
        ({"answer": [[]]}, Results(seq=0, results=[[]]), ""),
        ({"answer": []}, Results(seq=0, results=[1]), "answer has 1 entries, expected 0"),
        ({"answer": []}, error("argument"), "argument: m; expected an answer"),
    ],
)
def test_an_answer_is_judged(expected: dict[str, Any], found: Answer, wrong: str) -> None:
    """The kind of an error and its index, or the answer; a skip only where strings forbid it."""
    said = ArgumentCase("case", {}, **expected).judge(found)
    assert wrong in said
    assert bool(said) == bool(wrong)
