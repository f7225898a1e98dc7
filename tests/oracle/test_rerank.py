"""Rerankers against sentence-transformers' CrossEncoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.bert import KINDS
from models.folders.heads import (
    BERT,
    DECODERS,
    GTE,
    MODERN,
    named,
    reranker_of_modules,
    saved_bert,
    saved_rotary,
)
from models.folders.rotary import KINDS as ROTARY
from models.folders.rotary import save_kind
from models.folders.saved import save as saved_models
from models.folders.tiny_folders import change_json
from support.oracle.agreement import agreement_with_cross_encoder
from support.oracle.proven import HUGGING_FACE, Proven

#: Kinds whose models every language verifies.


@pytest.mark.parametrize("kind", BERT)
def test_agrees_with_sentence_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids, types, scores and their order agree for every built-in case."""
    folder = saved_bert(tmp_path / "model", kind, ("LABEL_0",))
    found = agreement_with_cross_encoder(folder, tmp_path / "tiny.onnx")
    proven(named(kind, "reranker"), found, source=HUGGING_FACE)


@pytest.mark.parametrize("kind", [*DECODERS, *GTE, *MODERN])
def test_with_rotary_positions(kind: str, tmp_path: Path, proven: Proven) -> None:
    """A decoder's last token decides the score, GTE's first one, whose types may count."""
    folder = saved_rotary(tmp_path / "model", kind, ("LABEL_0",))
    found = agreement_with_cross_encoder(folder, tmp_path / "tiny.onnx")
    proven(named(kind, "reranker"), found, source=HUGGING_FACE)


@pytest.mark.parametrize("activation", ["Sigmoid", "Identity", "Tanh"])
def test_folders_of_the_library(activation: str, tmp_path: Path, proven: Proven) -> None:
    """config_sentence_transformers.json decides how a number becomes a score."""
    import torch
    from sentence_transformers import CrossEncoder

    plain = saved_bert(tmp_path / "plain", "bert", ("LABEL_0",))
    made = getattr(torch.nn, activation)()
    CrossEncoder(str(plain), activation_fn=made).save_pretrained(str(tmp_path / "model"))
    found = agreement_with_cross_encoder(tmp_path / "model", tmp_path / "tiny.onnx")
    proven(f"bert reranker, {activation}", found)


@pytest.mark.parametrize("activation", ["Sigmoid", "Identity"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("kind", ["bert", "modernbert"])
def test_a_head_of_modules(
    kind: str, pooling: str, activation: str, tmp_path: Path, proven: Proven
) -> None:
    """As the Ettin rerankers have it; the types of a BERT's tokens count."""
    if kind == "bert":
        saved_models(tmp_path / "saved", *KINDS[kind]())
        base = tmp_path / "saved" / "body"
    else:
        save_kind(ROTARY[kind], tmp_path / "saved")
        base = tmp_path / "body"
    library = reranker_of_modules(base, activation, pooling)
    library.save_pretrained(str(tmp_path / "model"))
    found = agreement_with_cross_encoder(tmp_path / "model", tmp_path / "tiny.onnx")
    proven(f"{kind} reranker, modules", found)


@pytest.mark.parametrize(
    "settings",
    [
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
        {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
    ],
    ids=["4", "before 4"],
)
def test_folders_of_earlier_versions(
    settings: dict[str, Any], tmp_path: Path, proven: Proven
) -> None:
    """Earlier versions say in config.json how a number becomes a score."""
    folder = saved_bert(tmp_path / "model", "bert", ("LABEL_0",))
    change_json(folder / "config.json", **settings)
    found = agreement_with_cross_encoder(folder, tmp_path / "tiny.onnx")
    assert max(rank["score"] for case in found.expected for rank in case.answer) > 1
    proven(f"bert reranker, {next(iter(settings))}", found, source=HUGGING_FACE)
