"""Taggers against transformers: its models token by token, and its pipeline span by span."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.heads import BERT, DECODERS, MODERN, named, saved_bert, saved_rotary
from polybake.baking.golden.golden import make_fixture
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import Agreement, agreement, as_given, bake
from support.oracle.proven import HUGGING_FACE, Proven

HEAD = "TokenClassification"
#: Kinds whose models every language verifies.
LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-\u65e0 \U0001f600")
PLAIN = ("B", "NOUN", "VERB", "O", "ADJ", "B-X-Y")

#: Texts of one part, whose words the pipeline finds alike: gaps are single spaces, no letter is
#: unknown, and no token is a gap alone, which it takes for words.
TEXTS = (
    "the water there, the waters: theft!",
    "water the waterer: the theory? water.",
    "theatre water the waterways",
    "the theme? watermill, water the thesis",
)
#: As the pipeline calls them, in the order of the golden answer.
AGGREGATIONS = ("first", "average", "max")


def bake_tagger(folder: Path, out: Path) -> None:
    bake(folder, out, name="tiny-tagger")
    assert read_head(out).manifest.contract.task == "tag"


def agreement_with_transformers(folder: Path, out: Path, *, spans: bool = True) -> Agreement:
    """Bake a folder, and compare the scores of each token, and spans."""
    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    bake_tagger(folder, out)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForTokenClassification.from_pretrained(folder).eval()
    expected = []
    for case in read_head(out).fixture.cases:
        rows, ids = [], []
        for text in case.texts:
            fed = tokenizer(
                text, truncation=True, return_tensors="pt", return_special_tokens_mask=True
            )
            special = fed.pop("special_tokens_mask")[0].numpy() == 1
            ids.append(tuple(fed.input_ids[0].tolist()))
            with torch.no_grad():
                scores = torch.softmax(model(**fed).logits[0].double(), dim=-1).numpy()
            inner = np.flatnonzero(~special)
            # Special tokens that stand in the text itself have scores, too.
            rows.append(scores[inner[0] : inner[-1] + 1] if len(inner) else scores[:0])
        # The pipeline's words are others where gaps are more than single spaces.
        values = {"input_ids": tuple(ids), "embeddings": np.concatenate(rows), "answer": None}
        expected.append(as_given(case, values))
    assert len(expected) > 10
    if spans:
        case = CaseText("spans", "", (), None, TEXTS)
        (found,) = make_fixture(out, [case]).cases
        expected.append(found.model_copy(update={"answer": spans_of(folder)}))
    return agreement(out, expected)


def spans_of(folder: Path) -> list[Any]:
    """The spans of the pipeline, in every aggregation."""
    from transformers import pipeline

    ways = []
    for way in AGGREGATIONS:
        library = pipeline("token-classification", str(folder), aggregation_strategy=way)
        found = [
            [
                {
                    "label": one["entity_group"],
                    "score": float(one["score"]),
                    "start": start,
                    "end": one["end"],
                    "text": text[start : one["end"]],
                }
                for one in library(text)
                # Its spans begin with the gap before the word where the tokenizer's offsets do.
                for start in [one["start"] + (text[one["start"]] == " ")]
            ]
            for text in TEXTS
        ]
        ways.append(found)
    return ways


@pytest.mark.parametrize("kind", BERT)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Every token's scores and every span agree."""
    folder = saved_bert(tmp_path / "model", kind, LABELS, HEAD)
    found = agreement_with_transformers(folder, tmp_path / "tiny.onnx")
    proven(named(kind, "tagger"), found, source=HUGGING_FACE)


@pytest.mark.parametrize("kind", [*DECODERS, *MODERN])
def test_with_rotary_positions(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Decoders have no special tokens to leave out; their tokenizers here give gaps tokens."""
    folder = saved_rotary(tmp_path / "model", kind, LABELS, HEAD)
    found = agreement_with_transformers(folder, tmp_path / "tiny.onnx", spans=False)
    proven(named(kind, "tagger"), found, source=HUGGING_FACE)


def test_labels_of_no_scheme(tmp_path: Path, proven: Proven) -> None:
    """Neighbours with the same label are one span, if labels follow no scheme."""
    folder = saved_bert(tmp_path / "model", "bert", PLAIN, HEAD)
    found = agreement_with_transformers(folder, tmp_path / "tiny.onnx")
    proven(f"{named('bert', 'tagger')}, plain labels", found, source=HUGGING_FACE)
