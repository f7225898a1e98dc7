"""A verdict of vectors: the same, explained, or unexplained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.every_feed import write_every_feed_model
from models.files.prompted import STEPS, plain_bert_weights
from models.folders.tiny_folders import write_bert
from polybake import Embedder
from polybake.errors import InputError
from polybake.runtime.prompt import Prompt
from polybake.study.diagnose.departures.known import departures
from polybake.study.diagnose.diagnose import diagnose
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.way import Way, Ways

DOCUMENTS = Prompt(role="document")


def test_the_file_s_own_vectors_are_the_same(prompted: Path, ways: Ways, texts: list[str]) -> None:
    """Vectors of documents are the same as documents; as queries the prompt explains them."""
    own = ways.vectors(Way())
    found = diagnose(prompted, texts, own, DOCUMENTS)
    assert found.verdict == "same"
    assert found.found == ()
    other = diagnose(prompted, texts, own, Prompt(role="query"))
    assert other.verdict == "explained"
    assert other.found[0].name == "puts the prompt 'document' before texts"


def test_prompts_of_the_published_model(tmp_path: Path, texts: list[str]) -> None:
    """A file without prompts explains the vectors of the prompt that its model was trained with."""
    path = tmp_path / "model.onnx"
    source = write_bert(tmp_path / "CodeRankEmbed", weights=plain_bert_weights(seed=1))
    polybake.bake(source, path, name="coded", steps=STEPS)
    query = "Represent this query for searching relevant code: "
    theirs = Embedder(path).embed([f"{query}{text}" for text in texts])
    found = diagnose(path, texts, theirs, Prompt())
    assert found.verdict == "explained"
    assert found.found[0].name == (
        f"puts {query!r} before texts, which nomic-ai/CodeRankEmbed was trained with"
    )


def test_the_texts_that_show_it_best(
    prompted: Path, dissected: Dissection, ways: Ways, texts: list[str]
) -> None:
    """The examples of a limit are texts that it cuts, those with the largest gap first."""
    known = {one.name: one for one in departures(dissected, "document", 12)}
    theirs = ways.vectors(known["cuts texts at 16 tokens"].way)
    found = diagnose(prompted, texts, theirs, DOCUMENTS)
    assert found.found[0].name == "cuts texts at 16 tokens"
    assert {one.row for one in found.examples} <= {13, 14, 15} | {
        place for place, text in enumerate(texts, start=1) if len(text) > 40
    }
    assert all(one.text == texts[one.row - 1] and one.explained > 0.99 for one in found.examples)
    gaps = np.linalg.norm(theirs - ways.vectors(Way()), axis=1)
    assert [one.row - 1 for one in found.examples] == np.argsort(-gaps, kind="stable")[:3].tolist()


def test_the_other_byte_order_is_seen(prompted: Path, ways: Ways, texts: list[str]) -> None:
    """No embedding has such numbers; further differences are found behind the byte order."""
    own = ways.vectors(Way()).astype(np.float32)
    found = diagnose(prompted, texts, own.byteswap(), DOCUMENTS)
    assert found.swapped
    assert found.verdict == "explained"
    found = diagnose(prompted, texts, own[:, ::-1].copy().byteswap(), DOCUMENTS)
    assert (found.swapped, found.found[0].name) == (True, "has the elements in reverse order")


def test_noise_is_unexplained(prompted: Path, texts: list[str]) -> None:
    """No cause is guessed for random numbers."""
    theirs = np.random.default_rng(3).normal(size=(len(texts), 12)).astype(np.float32)
    found = diagnose(prompted, texts, theirs, DOCUMENTS)
    assert found.verdict == "unexplained"
    assert found.rounding is None


def test_all_texts_are_compared(
    prompted: Path, ways: Ways, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wrong text among many is seen, and a search that ran out of time says so."""
    monkeypatch.setattr("polybake.study.diagnose.search._TIME", 0.0)
    many, own = texts * 20, np.tile(ways.vectors(Way()), (20, 1))
    own[201] *= 3
    found = diagnose(prompted, many, own, DOCUMENTS)
    assert found.rows == 300
    assert found.verdict != "same"
    assert found.ended


def test_the_longest_text_is_tried(dissected: Dissection, prompted: Path, texts: list[str]) -> None:
    """Its own vector is right; all others are wrong, as they were padded to its length."""
    many = texts[:10] * 8
    many.insert(37, " ".join(["river"] * 17))
    name = "takes the mean over padding, too, in batches of several texts"
    known = {one.name: one for one in departures(dissected, "document", 12)}
    theirs = Ways(dissected, many, "document").vectors(known[name].way)
    found = diagnose(prompted, many, theirs, DOCUMENTS)
    assert (found.verdict, found.found[0].name) == ("explained", name)
    assert found.found[0].explained > 0.999


def test_another_order_is_seen(prompted: Path, ways: Ways, texts: list[str]) -> None:
    """A changed order alone explains the vectors; further differences are found behind it."""
    own, shift = ways.vectors(Way()), np.roll(np.arange(len(texts)), 1)
    found = diagnose(prompted, texts, own[shift], DOCUMENTS)
    assert (found.moved, found.found, found.verdict) == (15, (), "explained")
    known = {one.name: one for one in departures(ways.model, "document", 12)}
    longer = ways.vectors(known["leaves out the step normalize()"].way)
    found = diagnose(prompted, texts, longer[shift], DOCUMENTS)
    assert (found.moved, found.found[0].name) == (15, "leaves out the step normalize()")


@pytest.mark.weekly
def test_what_rounding_leaves_behind_an_explanation_is_said(
    prompted: Path, dissected: Dissection, texts: list[str]
) -> None:
    """A remainder of rounding's size is called rounding, not a second cause."""
    known = {one.name: one for one in departures(dissected, "document", 12)}
    many = texts * 3
    theirs = Ways(dissected, many, "document").vectors(known["pools by cls"].way)
    theirs = theirs * np.random.default_rng(1).uniform(0.999, 1.001, theirs.shape)
    found = diagnose(prompted, many, theirs.astype(np.float32), DOCUMENTS)
    assert (found.verdict, found.found[0].name) == ("explained", "pools by cls")
    assert (found.rounding, found.left) == ("float16, bfloat16 or TF32", found.found[0].left)


def test_what_rounding_leaves_is_said(prompted: Path, ways: Ways, texts: list[str]) -> None:
    """Rounding differs from machine to machine, so its size alone gives it away."""
    own = ways.vectors(Way())
    noise = np.random.default_rng(5).uniform(-1e-3, 1e-3, own.shape)
    found = diagnose(prompted, texts, (own + noise).astype(np.float32), DOCUMENTS)
    assert (found.verdict, found.rounding) == ("unexplained", "float16, bfloat16 or TF32")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_vector_is_no_guess(value: float, prompted: Path, texts: list[str]) -> None:
    """Rows with NaN or infinity are named."""
    theirs = np.ones((len(texts), 12), np.float32)
    theirs[3, 2] = value
    with pytest.raises(InputError, match="vector 4 holds NaN or infinity; drop it"):
        diagnose(prompted, texts, theirs, DOCUMENTS)
    theirs[[5, 7]] = value
    with pytest.raises(InputError, match="vectors 4, 6 and 8 hold NaN or infinity; drop them"):
        diagnose(prompted, texts, theirs, DOCUMENTS)


def test_integers_are_refused(tmp_path: Path) -> None:
    """Quantized vectors cannot be taken apart."""
    model = write_every_feed_model(tmp_path / "m.onnx", precision="int8")
    with pytest.raises(InputError, match="give a file of float32 embeddings"):
        diagnose(model, ["a"], np.ones((1, 7), np.float32), Prompt())
