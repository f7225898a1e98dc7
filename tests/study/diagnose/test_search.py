"""Planted differences are named first, alone and in pairs; others stay unexplained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.prompted import write_prompted
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.runtime.embedder import Embedder
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.known import departures
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.search import EXPLAINED, explanations
from polybake.study.diagnose.way import Way, Ways

SINGLES = [
    "pools by cls",
    "pools by max",
    "leaves out the step normalize()",
    "puts no prompt before texts",
    "puts the prompt 'query' before texts",
    "puts the prompt 'document' twice",
    "cuts texts at 16 tokens",
    "cuts the beginning of long texts",
    "pads on the left",
    "attends to padding, in batches of several texts",
    "attends to padding and pools it, in batches of several texts",
    "takes the mean over padding, too, in batches of several texts",
    "leaves special tokens out of the pooling",
    "adds no special tokens",
    "normalises texts to NFKC",
    "takes the output of layer 1",
    "stores the weights as float16",
    "stores the weights as bfloat16",
    "stores vectors as int8",
    "rounds elements to 2 decimals",
    "adds special tokens twice",
    "normalises each token before the mean",
    "keeps the case of texts",
    "computes in dynamic int8 (a scale a matrix), a text at a time",
    "computes in dynamic int8 (a scale a channel, 7 bits), in batches of several texts",
    "computes in dynamic int8 (a scale a channel, products alone, no sign), a text at a time",
    "has the elements in reverse order",
    "computes GELU by tanh",
    "gives all tokens the type 1",
    "adds no embeddings of token types",
    "rounds elements to 4 decimals",
    "stores vectors as bfloat16",
]

PAIRS = [
    ("pools by cls", "leaves out the step normalize()"),
    ("pools by max", "puts no prompt before texts"),
    ("puts no prompt before texts", "leaves out the step normalize()"),
    ("pads on the left", "pools by lasttoken"),
    ("adds no special tokens", "leaves out the step normalize()"),
    ("cuts texts at 16 tokens", "pools by cls"),
    ("takes the output of layer 1", "pools by cls"),
    ("puts the prompt 'query' before texts", "cuts texts at 16 tokens"),
    ("puts the prompt 'query' before texts", "adds no special tokens"),
    ("pools by cls", "stores vectors as float16"),
    ("pools by cls", "adds no special tokens"),  # neither explains a part alone
]


#: Differences of batches, which hold fewer texts here than there are.
BATCHED = [
    "takes the mean over padding, too, in batches of 8 texts",
    "attends to padding and pools it, in batches of 8 texts",
]


@pytest.fixture(scope="module")
def known(dissected: Dissection) -> dict[str, Departure]:
    return {one.name: one for one in departures(dissected, "document", 12, 15)}


@pytest.mark.parametrize("name", [*SINGLES, *BATCHED])
def test_a_planted_difference_is_named_first(
    name: str, known: dict[str, Departure], ways: Ways, dissected: Dissection, texts: list[str]
) -> None:
    """One planted difference explains all of the gap."""
    found = explanations(dissected, texts, ways.vectors(known[name].way), "document").found
    assert name in found[0].name
    assert found[0].explained > 0.999
    assert found[0].parts == 1


@pytest.mark.parametrize("names", PAIRS, ids=" + ".join)
def test_a_planted_pair_is_named_first(
    names: tuple[str, str],
    known: dict[str, Departure],
    ways: Ways,
    dissected: Dissection,
    texts: list[str],
) -> None:
    """Two planted differences are both named, where neither explains the gap alone."""
    pair = known[names[0]].joined(known[names[1]])
    assert pair
    found = explanations(dissected, texts, ways.vectors(pair.way), "document").found
    assert all(name in found[0].name for name in names), [one.name for one in found[:3]]
    assert found[0].explained > 0.99


def test_another_checkpoint_stays_unexplained(
    dissected: Dissection, texts: list[str], tmp_path: Path
) -> None:
    """No known difference explains other weights, and nothing is guessed."""
    other = Dissection.read(write_prompted(tmp_path / "other.onnx", seed=2))
    theirs = Ways(other, texts, "document").vectors(Way())
    found = explanations(dissected, texts, theirs, "document").found
    assert all(one.explained < EXPLAINED / 2 for one in found)


def test_fewer_dimensions(ways: Ways, dissected: Dissection, texts: list[str]) -> None:
    """Cut vectors are recognised, both as they are and normalised again."""
    cut = ways.vectors(Way())[:, :5]
    found = explanations(dissected, texts, cut, "document").found
    assert found[0].name == "keeps the first 5 elements"
    unit = cut / np.linalg.norm(cut, axis=1, keepdims=True)
    found = explanations(dissected, texts, unit, "document").found
    assert found[0].name == "keeps the first 5 elements and normalises"


def test_values_on_a_grid_need_no_model(
    ways: Ways, dissected: Dissection, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounded values are recognised as such, on whichever side of a step arithmetic put them."""
    own = ways.vectors(Way())
    tried: list[object] = []
    monkeypatch.setattr(Dissection, "values", lambda *given, **_: tried.append(given))
    for rounded in (lambda x: x.astype(np.float16), lambda x: np.round(x, 4)):
        theirs = rounded(own * (1 + 3e-6)).astype(np.float32)
        assert np.abs(theirs - rounded(own)).max() > 1e-5
        found = explanations(dissected, texts, theirs, "document", own=own).found
        assert (found[0].explained, found[0].parts) == (1, 1)
    assert not tried


def test_a_difference_behind_rounding_is_named(
    ways: Ways, dissected: Dissection, texts: list[str], known: dict[str, Departure]
) -> None:
    """Difference and rounding are both named, without trying any pair."""
    theirs = np.round(ways.vectors(known["cuts texts at 16 tokens"].way), 3)
    said: list[str] = []
    found = explanations(dissected, texts, theirs, "document", said.append).found
    assert found[0].name == "cuts texts at 16 tokens, and rounds elements to 3 decimals"
    assert not any("pairs" in line for line in said)
    assert any("best so far" in line for line in said)


@pytest.mark.parametrize(("own", "other"), [("gelu", "gelu_new"), ("gelu_new", "gelu")])
def test_gelu_has_two_forms(own: str, other: str, tmp_path: Path, texts: list[str]) -> None:
    """Two bakes of one checkpoint differ by GELU's form, which explains each other's vectors."""
    weights = bert_weights()
    for name in weights:
        if name.endswith("intermediate.dense.weight"):
            weights[name] *= 20
    steps = [{"step": "pool", "mode": "mean"}]
    for kind in (own, other):
        folder = write_bert(tmp_path / kind, {**CONFIG, "hidden_act": kind}, weights)
        polybake.bake(folder, tmp_path / f"{kind}.onnx", steps=steps)
    theirs = Embedder(tmp_path / f"{other}.onnx").embed(texts)
    found = explanations(Dissection.read(tmp_path / f"{own}.onnx"), texts, theirs, None).found
    assert found[0].name == f"computes GELU by {'tanh' if own == 'gelu' else 'erf'}"
    assert found[0].explained > 0.999
