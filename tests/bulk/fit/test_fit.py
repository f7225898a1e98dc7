"""A corpus becomes running sums, these arrays, and these baked steps."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from models.bake import bake
from models.folders.tiny_folders import WORDS, bert_weights, write_bert
from polybake import __version__
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.tolerance import LIMIT, relative_difference
from polybake.bulk.fit.corpus import Corpus
from polybake.bulk.fit.fit import Moments, Wanted, fit, fitted
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder

SIZE = 12
POOL = {"step": "pool", "mode": "mean"}
QUIET = Console(quiet=True)
RANDOM = np.random.default_rng(3)
X = (RANDOM.normal(size=(40, 6)) * [5, 4, 3, 2, 1, 0.5] + 9).astype(np.float32)

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
    ("wanted", "step"),
    [
        ({}, {"step": "subtract", "vector": "mean.npy"}),
        ({"whiten": 5}, {"step": "whiten", "mean": "mean.npy", "matrix": "matrix.npy"}),
        ({"pca": 5}, {"step": "pca", "mean": "mean.npy", "components": "components.npy"}),
        (
            {"remove_components": 2},
            {"step": "remove_components", "mean": "mean.npy", "components": "top.npy"},
        ),
    ],
)
def test_fitted_files_bake_as_they_are(
    wanted: dict[str, int], step: dict[str, str], folder: Path, corpus: Corpus
) -> None:
    """Fitted, added as a step and baked, they do to the corpus what they were fitted for."""
    out = f"for-{step['step']}"
    fit_there(folder, corpus, out, **wanted)
    spec = {key: value if key == "step" else f"{out}/{value}" for key, value in step.items()}
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
    record = json.loads((out / "fit.json").read_text())
    assert record["model"]["fingerprint"] == manifest.fingerprint
    assert record["corpus"]["sha256"] == hashlib.sha256(corpus.path.read_bytes()).hexdigest()
    assert record["corpus"]["texts"] == 90
    shapes = {name: list(np.load(out / name).shape) for name in record["arrays"]}
    assert record["arrays"] == shapes
    assert {"mean.npy", "ranges.npy", "components.npy", "matrix.npy", "top.npy"} == {*shapes}
    assert record["polybake"] == __version__
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
        ({}, "no text that has tokens"),
    ],
)
def test_names_impossible_counts(
    wanted: dict[str, int], shown: str, folder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    """More components than there are, or none, and no texts; nothing is written."""
    (tmp_path / "empty.txt").write_text("\n\n")
    given = corpus if wanted else Corpus(tmp_path / "empty.txt")
    with pytest.raises(InputError, match=shown):
        fit_there(folder, given, "impossible", **wanted)
    assert not (folder / "impossible").exists()


ROW = np.random.default_rng(1).normal(size=(1, SIZE)).astype(np.float32)
ONE_POINT = np.concatenate([ROW, ROW * np.float32(1 + 1e-7), ROW])
SAME = "all 3 texts of the corpus have the same embedding"
FLAT = np.float32([[1, 3], [2, 3], [5, 3]])


@pytest.mark.parametrize(
    ("rows", "wanted", "shown"),
    [
        (RANDOM.normal(size=(3, SIZE)), {"pca": 3}, "3 texts of 12 elements give 1 to 2 comp"),
        (ONE_POINT, {"ranges": True}, SAME),
        (ONE_POINT, {"pca": 1}, SAME),
        (ONE_POINT, {"remove_components": 1}, SAME),
        (FLAT, {"whiten": 2}, "varies in 1 directions only; ask for at most 1"),
        (np.float32([[1, np.nan], [2, 3]]), {}, "holds NaN or infinity"),
    ],
)
def test_what_cannot_be_fitted_is_named(rows: np.ndarray, wanted: Any, shown: str) -> None:
    """Three texts span two directions; one point has no direction but those of rounding."""
    moments = Moments(rows.shape[1])
    moments.add(rows.astype(np.float32))
    with pytest.raises((InputError, CheckFailed), match=shown):
        fitted(moments, Wanted(**wanted))
    if rows is ONE_POINT:
        assert fitted(moments, Wanted())["mean.npy"] == pytest.approx(ROW[0], rel=1e-6)
    if rows is FLAT:
        assert fitted(moments, Wanted(whiten=1)).keys() == {"mean.npy", "matrix.npy"}


def test_only_arrays_of_an_earlier_fit_are_removed(folder: Path, corpus: Corpus) -> None:
    """A file of the user's own stays; one that a fit wrote does not go with a new mean."""
    out = folder / "own"
    out.mkdir()
    (out / "matrix.npy").write_bytes(b"mine")
    fit_there(folder, corpus, "own", pca=2)
    assert (out / "matrix.npy").read_bytes() == b"mine"
    fit_there(folder, corpus, "own", ranges=True)
    names = {path.name for path in out.iterdir()}
    assert names == {"fit.json", "matrix.npy", "mean.npy", "ranges.npy"}


@pytest.fixture
def moments() -> Moments:
    found = Moments(6)
    for start in range(0, len(X), 7):
        found.add(X[start : start + 7])
    return found


def test_principal_components(moments: Moments) -> None:
    """Components are right singular vectors of the centred array, signed by the largest element."""
    centred = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    _, singular, rows = np.linalg.svd(centred, full_matrices=False)
    variances, components = moments.principal()
    assert variances == pytest.approx(singular**2 / 39, abs=1e-9)
    for found, expected in zip(components, rows, strict=True):
        assert found == pytest.approx(expected * np.sign(found @ expected), abs=1e-7)
        assert max(found) == max(abs(found))


def test_a_large_mean_hides_no_variance() -> None:
    """The covariance of vectors far from zero is still right to six digits."""
    far = Moments(6)
    far.add(X + np.float32(1000))
    expected = np.cov((X + np.float32(1000)).astype(np.float64), rowvar=False)
    assert far.covariance() == pytest.approx(expected, rel=1e-6, abs=1e-6)
