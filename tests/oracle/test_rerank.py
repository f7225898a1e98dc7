"""Rerankers against sentence-transformers' CrossEncoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polybake
from models.folders.heads import BERT, DECODERS, MODERN, saved_bert, saved_rotary
from models.folders.tiny_folders import change_json
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import encode_vectors
from support.oracle.agreement import Agreement, agreement_of_pairs
from support.oracle.proven import FOLDER, Proven

pytestmark = pytest.mark.oracle
pytest.importorskip("sentence_transformers")

HUGGING_FACE = "Hugging Face folder"

#: Kinds whose models every language verifies.
KEPT = ("bert", "roberta")


def named(kind: str) -> str:
    """The kind of a reranker, its variant behind a comma."""
    model, comma, variant = kind.partition(",")
    return f"{model} reranker{comma}{variant}"


def agreement_with_cross_encoder(folder: Path, out: Path) -> Agreement:
    """Bake a folder and compare each golden case with the library, a pair at a time."""
    from sentence_transformers import CrossEncoder

    polybake.bake(folder, out, name="tiny-reranker")
    library = CrossEncoder(str(folder), device="cpu")
    expected = []
    for case in read_head(out).fixture.cases:
        # As predict does: by itself an empty second text would count for none.
        encoded = [library.tokenizer([pair], truncation=True) for pair in case.texts]
        scores = [float(library.predict([pair])[0]) for pair in case.texts]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        types = [one.get("token_type_ids", [None])[0] for one in encoded]
        expected.append(
            case.model_copy(
                update={
                    "input_ids": tuple(tuple(one["input_ids"][0]) for one in encoded),
                    # A tokenizer of a model without types gives none.
                    "type_ids": case.type_ids if None in types else tuple(map(tuple, types)),
                    "embeddings": encode_vectors(np.array(scores, np.float32)[:, None]),
                    "answer": [{"index": place, "score": scores[place]} for place in order],
                }
            )
        )
    assert len(expected) > 10
    return agreement_of_pairs(out, expected)


@pytest.mark.parametrize("kind", BERT)
def test_agrees_with_sentence_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids, types, scores and their order agree for every built-in case."""
    folder = saved_bert(tmp_path / "model", kind, ("LABEL_0",))
    found = agreement_with_cross_encoder(folder, tmp_path / "tiny.onnx")
    proven(named(kind), found, source=HUGGING_FACE, kept=kind in KEPT)


@pytest.mark.parametrize("kind", [*DECODERS, *MODERN])
def test_with_rotary_positions(kind: str, tmp_path: Path, proven: Proven) -> None:
    """A decoder's last token decides the score."""
    folder = saved_rotary(tmp_path / "model", kind, ("LABEL_0",))
    found = agreement_with_cross_encoder(folder, tmp_path / "tiny.onnx")
    proven(named(kind), found, source=HUGGING_FACE, kept=False)


@pytest.mark.parametrize("activation", ["Sigmoid", "Identity", "Tanh"])
def test_folders_of_the_library(activation: str, tmp_path: Path, proven: Proven) -> None:
    """config_sentence_transformers.json decides how a number becomes a score."""
    import torch
    from sentence_transformers import CrossEncoder

    plain = saved_bert(tmp_path / "plain", "bert", ("LABEL_0",))
    made = getattr(torch.nn, activation)()
    CrossEncoder(str(plain), activation_fn=made).save_pretrained(str(tmp_path / "model"))
    found = agreement_with_cross_encoder(tmp_path / "model", tmp_path / "tiny.onnx")
    proven(f"bert reranker, {activation}", found, source=FOLDER, kept=False)


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
    assert min(rank["score"] for case in found.expected for rank in case.answer) < 0
    proven(f"bert reranker, {next(iter(settings))}", found, source=HUGGING_FACE, kept=False)
