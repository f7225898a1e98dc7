"""Planted differences are named first, alone and in pairs; others stay unexplained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.prompted import write_prompted
from polybake.diagnosis.departures.departure import Departure
from polybake.diagnosis.departures.known import departures
from polybake.diagnosis.dissected import Dissected
from polybake.diagnosis.search import EXPLAINED, explanations
from polybake.diagnosis.way import Way, Ways

SINGLES = [
    "pools by cls",
    "pools by max",
    "leaves out the step normalize()",
    "puts no prompt before texts",
    "puts the prompt 'query' before texts",
    "puts the prompt 'document' before twice",
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
]


@pytest.fixture(scope="module")
def known(dissected: Dissected) -> dict[str, Departure]:
    return {one.name: one for one in departures(dissected, "document", 12)}


@pytest.mark.parametrize("name", SINGLES)
def test_a_planted_difference_is_named_first(
    name: str, known: dict[str, Departure], ways: Ways, dissected: Dissected, texts: list[str]
) -> None:
    """It explains all of the gap, alone."""
    found = explanations(dissected, texts, ways.vectors(known[name].way), "document")
    assert name in found[0].name
    assert found[0].explained > 0.999
    assert found[0].parts == 1


@pytest.mark.parametrize("names", PAIRS, ids=" + ".join)
def test_a_planted_pair_is_named_first(
    names: tuple[str, str],
    known: dict[str, Departure],
    ways: Ways,
    dissected: Dissected,
    texts: list[str],
) -> None:
    """Both of them, where neither explains the gap."""
    pair = known[names[0]].joined(known[names[1]])
    assert pair
    found = explanations(dissected, texts, ways.vectors(pair.way), "document")
    assert all(name in found[0].name for name in names), [one.name for one in found[:3]]
    assert found[0].explained > 0.99


def test_another_checkpoint_stays_unexplained(
    dissected: Dissected, texts: list[str], tmp_path: Path
) -> None:
    """Nothing of what is known explains other weights, and nothing is guessed."""
    other = Dissected.read(write_prompted(tmp_path / "other.onnx", seed=2))
    theirs = Ways(other, texts, "document").vectors(Way())
    found = explanations(dissected, texts, theirs, "document")
    assert all(one.explained < EXPLAINED / 2 for one in found)


def test_fewer_dimensions(ways: Ways, dissected: Dissected, texts: list[str]) -> None:
    """Cut, with and without another norm."""
    cut = ways.vectors(Way())[:, :5]
    found = explanations(dissected, texts, cut, "document")
    assert found[0].name == "keeps the first 5 elements"
    unit = cut / np.linalg.norm(cut, axis=1, keepdims=True)
    found = explanations(dissected, texts, unit, "document")
    assert found[0].name == "keeps the first 5 elements and normalises"
