"""A corpus becomes arrays, and these become baked steps."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from models.folders.tiny_folders import WORDS, bert_weights, write_bert
from polybake import __version__
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.compare import LIMIT, relative_difference
from polybake.base.modelfile.container import read_head
from polybake.bulk.fit.corpus import Corpus
from polybake.bulk.fit.fit import Wanted, fit, fitted
from polybake.bulk.fit.moments import Moments
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder

SIZE = 12
POOL = {"step": "pool", "mode": "mean"}
QUIET = Console(quiet=True)

#: Norms of about 1, as trained ones are: at 0.2 all texts have nearly the same embedding.
WEIGHTS = {
    name: weight + np.float32(name.endswith("LayerNorm.weight"))
    for name, weight in bert_weights().items()
}


def bake_with(folder: Path, *steps: dict[str, Any]) -> Path:
    source = open_source(write_bert(folder / "model", weights=WEIGHTS))
    out = folder / f"{len(steps)}-{steps[-1]['step']}.onnx"
    return bake(source, resolve(steps, base=folder, source=source), out, name="tiny").path


def embeddings(model: Path, corpus: Corpus) -> np.ndarray:
    """The vector of each text, in float64."""
    return Embedder(model).embed(corpus).astype(np.float64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of 90 texts, and a model file that ends with the pooling."""
    folder = tmp_path_factory.mktemp("fit")
    random = np.random.default_rng(7)
    texts = [" ".join(random.choice(WORDS, 2 + index % 9)) for index in range(90)]
    (folder / "corpus.txt").write_text("\n".join(texts), encoding="utf-8")
    bake_with(folder, POOL).rename(folder / "pooled.onnx")
    return folder


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return Corpus(folder / "corpus.txt")


def fit_there(folder: Path, corpus: Corpus, out: str, **wanted: Any) -> dict[str, Any]:
    return fit(folder / "pooled.onnx", corpus, Wanted(**wanted), folder / out, console=QUIET)


@pytest.mark.parametrize(
    ("wanted", "step", "file"),
    [
        ({}, {"step": "subtract", "vector": "mean.npy"}, "mean.npy"),
        (
            {"whiten": 5},
            {"step": "whiten", "mean": "mean.npy", "matrix": "matrix.npy"},
            "matrix.npy",
        ),
        (
            {"pca": 5},
            {"step": "pca", "mean": "mean.npy", "components": "components.npy"},
            "components.npy",
        ),
        (
            {"remove_components": 2},
            {"step": "remove_components", "mean": "mean.npy", "components": "top.npy"},
            "top.npy",
        ),
    ],
)
def test_fitted_files_bake_as_they_are(
    wanted: dict[str, int], step: dict[str, str], file: str, folder: Path, corpus: Corpus
) -> None:
    """Fitted, added as a step and baked, they do to the corpus what they were fitted for."""
    fit_there(folder, corpus, file, **wanted)
    spec = {key: value if key == "step" else f"{file}/{value}" for key, value in step.items()}
    baked = bake_with(folder, POOL, spec)
    x = embeddings(folder / "pooled.onnx", corpus)
    centred = x - x.mean(axis=0)
    _, singular, rows = np.linalg.svd(centred, full_matrices=False)
    found = embeddings(baked, corpus)
    assert found.mean(axis=0) == pytest.approx(np.zeros(found.shape[1]), abs=1e-5)
    deviations = singular / np.sqrt(len(x) - 1)
    coordinates = centred @ rows.T
    if step["step"] == "subtract":
        expected = centred
    elif step["step"] == "remove_components":
        expected = centred - coordinates[:, :2] @ rows[:2]
    else:
        expected = coordinates[:, :5] / (deviations[:5] if step["step"] == "whiten" else 1.0)
        expected *= np.sign((expected * found).sum(axis=0))  # an eigenvector's sign is arbitrary
    assert relative_difference(found, expected) <= LIMIT
    if step["step"] == "whiten":
        assert np.cov(found, rowvar=False) == pytest.approx(np.eye(5), abs=1e-4)


def test_record_says_what_the_arrays_came_from(folder: Path, corpus: Corpus) -> None:
    """fit.json holds the model, the corpus, the shapes and the version."""
    out = folder / "record"
    fit_there(folder, corpus, "record", pca=3, whiten=4, remove_components=1, ranges=True)
    manifest = read_head(folder / "pooled.onnx").manifest
    assert json.loads((out / "fit.json").read_text()) == {
        "model": {
            "name": "tiny",
            "fingerprint": manifest.fingerprint,
            "steps": ["pool(mode=mean)"],
            "prompt": None,
        },
        "corpus": {
            "file": "corpus.txt",
            "sha256": hashlib.sha256(corpus.path.read_bytes()).hexdigest(),
            "texts": 90,
        },
        "arrays": {
            "mean.npy": [SIZE],
            "ranges.npy": [2, SIZE],
            "components.npy": [3, SIZE],
            "matrix.npy": [SIZE, 4],
            "top.npy": [1, SIZE],
        },
        "polybake": __version__,
    }
    x = embeddings(folder / "pooled.onnx", corpus)
    np.testing.assert_array_equal(np.load(out / "ranges.npy"), [x.min(axis=0), x.max(axis=0)])


def test_an_element_that_hardly_varies_has_no_range() -> None:
    """255 steps of rounding alone would be noise; such an element keeps one value."""
    moments = Moments(3)
    x = np.float32([[1.0, 0.3, 1e-7], [-1.0, 0.3003, -1e-7], [0.5, 0.3001, 0.0]])
    moments.add(x)
    low, high = fitted(moments, Wanted(ranges=True))["ranges.npy"]
    np.testing.assert_array_equal(low, x.min(axis=0))
    np.testing.assert_array_equal(high, [1.0, np.float32(0.3003), np.float32(-1e-7)])


def test_same_input_gives_the_same_bytes(folder: Path, corpus: Corpus) -> None:
    """A second fit writes equal files, and removes those that it was not asked for."""
    fit_there(folder, corpus, "again", pca=3, whiten=4)
    before = {path.name: path.read_bytes() for path in (folder / "again").iterdir()}
    fit_there(folder, corpus, "again", pca=3, whiten=4)
    assert {path.name: path.read_bytes() for path in (folder / "again").iterdir()} == before
    fit_there(folder, corpus, "again")
    assert {path.name for path in (folder / "again").iterdir()} == {"mean.npy", "fit.json"}


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ({"pca": 13}, "--pca 13: 90 texts of 12 elements give 1 to 12 components"),
        ({"whiten": 0}, "--whiten 0: 90 texts"),
        ({"remove_components": -1}, "--remove-components -1: 90 texts"),
    ],
)
def test_names_impossible_counts(
    wanted: dict[str, int], shown: str, folder: Path, corpus: Corpus
) -> None:
    """More components than there are, or none, is an error with the numbers; nothing is written."""
    with pytest.raises(InputError, match=shown):
        fit_there(folder, corpus, "impossible", **wanted)
    assert not (folder / "impossible").exists()


def test_too_few_texts_are_named() -> None:
    """Three texts span two directions."""
    moments = Moments(SIZE)
    moments.add(np.random.default_rng(1).normal(size=(3, SIZE)).astype(np.float32))
    with pytest.raises(InputError, match="3 texts of 12 elements give 1 to 2 components"):
        fitted(moments, Wanted(pca=3))


@pytest.mark.parametrize("wanted", [{"ranges": True}, {"pca": 1}, {"remove_components": 1}])
def test_texts_of_one_embedding_are_named(wanted: dict[str, int]) -> None:
    """Nothing can be fitted to one point but its mean; directions would be those of rounding."""
    moments = Moments(SIZE)
    row = np.random.default_rng(1).normal(size=(1, SIZE)).astype(np.float32)
    moments.add(np.concatenate([row, row * np.float32(1 + 1e-7), row]))
    assert fitted(moments, Wanted())["mean.npy"] == pytest.approx(row[0], rel=1e-6)
    with pytest.raises(InputError, match="all 3 texts of the corpus have the same embedding"):
        fitted(moments, Wanted(**wanted))


def test_no_whitening_of_what_does_not_vary() -> None:
    """A direction without variance would be divided by zero."""
    moments = Moments(2)
    moments.add(np.float32([[1, 3], [2, 3], [5, 3]]))
    with pytest.raises(InputError, match="varies in 1 directions only; ask for at most 1"):
        fitted(moments, Wanted(whiten=2))
    assert fitted(moments, Wanted(whiten=1)).keys() == {"mean.npy", "matrix.npy"}


def test_an_empty_corpus_is_named(folder: Path, tmp_path: Path) -> None:
    """A file of empty lines gives no mean."""
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(InputError, match="no text that has tokens"):
        fit_there(folder, Corpus(tmp_path / "empty.txt"), "empty")


def test_nan_is_no_mean() -> None:
    """An embedding that is no number ends the fit."""
    moments = Moments(2)
    moments.add(np.float32([[1, np.nan], [2, 3]]))
    with pytest.raises(CheckFailed, match="holds NaN or infinity"):
        fitted(moments, Wanted())


def test_only_arrays_of_an_earlier_fit_are_removed(folder: Path, corpus: Corpus) -> None:
    """A file of the user's own stays; one that a fit wrote does not go with a new mean."""
    out = folder / "own"
    out.mkdir()
    (out / "matrix.npy").write_bytes(b"mine")
    fit_there(folder, corpus, "own", pca=2)
    assert (out / "matrix.npy").read_bytes() == b"mine"
    fit_there(folder, corpus, "own", ranges=True)
    assert {path.name for path in out.iterdir()} == {
        "fit.json",
        "matrix.npy",
        "mean.npy",
        "ranges.npy",
    }
