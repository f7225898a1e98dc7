"""Neighbours by two files, checked against definitions written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.study.diff.neighbours import NEAREST, Neighbours, compare_neighbours
from polybake.study.diff.search_vectors import SearchVectors, truncation

RANDOM = np.random.default_rng(3)
OLD = RANDOM.normal(size=(40, 7)).astype(np.float32)
NEW = OLD + RANDOM.normal(0, 0.3, OLD.shape).astype(np.float32)


@pytest.fixture
def manifest(every_feed: Path) -> Manifest:
    return read_head(every_feed).manifest.model_copy(update={"similarity": "cosine"})


def compared(
    one: Manifest,
    old: np.ndarray,
    new: np.ndarray,
    *,
    comparable: bool = True,
    queries: tuple[np.ndarray, np.ndarray] | None = None,
    other: Manifest | None = None,
) -> Neighbours:
    kept = SearchVectors()
    kept.add(["document"], [*old[:, None]], [*new[:, None]])
    asked, asks = queries or (old, new)
    kept.add(["query"], [*asked[:, None]], [*asks[:, None]])
    found = compare_neighbours(kept, one, other or one, comparable=comparable)
    assert found is not None
    return found


def unit(vectors: np.ndarray) -> np.ndarray:
    wide = vectors.astype(np.float64)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def nearest(queries: np.ndarray, texts: np.ndarray) -> list[set[int]]:
    """The ten texts of the largest cosines, the text itself left out."""
    found = []
    for at, row in enumerate(unit(queries) @ unit(texts).T):
        others = sorted((one for one in range(len(row)) if one != at), key=lambda one: -row[one])
        found.append(set(others[:NEAREST]))
    return found


def overlap(one: list[set[int]], other: list[set[int]]) -> float:
    return float(np.mean([len(a & b) / NEAREST for a, b in zip(one, other, strict=True)]))


def test_overlap_is_that_of_the_definition(manifest: Manifest) -> None:
    """Overlap holds for each file alone, in the old index, and in one that is half new."""
    found, expected = compared(manifest, OLD, NEW), nearest(OLD, OLD)
    half = np.array([NEW[at] if at % 2 else OLD[at] for at in range(len(OLD))])
    assert found.texts == 40
    assert found.alone == pytest.approx(overlap(expected, nearest(NEW, NEW)))
    assert found.old_index == pytest.approx(overlap(expected, nearest(NEW, OLD)))
    assert found.shared_index == pytest.approx(overlap(expected, nearest(NEW, half)))
    assert found.together == min(found.old_index, found.shared_index)
    assert np.mean(found.shares) == pytest.approx(found.together)
    assert len({found.alone, found.old_index, found.shared_index, 1.0}) == 4


def test_each_file_s_vectors_are_read_by_its_manifest(
    manifest: Manifest, every_feed_bits: Path
) -> None:
    """Numbers that agree with the bits of the first file have the same neighbours."""
    signs = RANDOM.choice([-1, 1], (40, 16))
    bits = np.packbits(signs > 0, axis=1)
    packed = read_head(every_feed_bits).manifest
    if packed.contract.output.dtype == "int8":
        bits = (bits.astype(np.int16) - 128).astype(np.int8)
    halves = (0.5 * signs).astype(np.float32)
    assert compared(packed, bits, halves, other=manifest, comparable=False).alone == 1


def test_equal_vectors_keep_all(manifest: Manifest) -> None:
    """Texts that are equally near may stand for each other."""
    twice = np.concatenate([OLD[:8]] * 5)
    found = compared(manifest, twice, twice)
    assert (found.alone, found.old_index, found.shared_index) == (1, 1, 1)
    assert found.rank_correlation == pytest.approx(1)


def test_turned_vectors_keep_their_neighbours_and_fit_no_old_index(manifest: Manifest) -> None:
    """A rotation, as of a model trained again, keeps neighbours but does not fit an old index."""
    turn = np.linalg.qr(RANDOM.normal(size=(7, 7)))[0].astype(np.float32)
    found = compared(manifest, OLD, OLD @ turn)
    assert found.alone > 0.99
    assert found.together is not None
    assert found.together < 0.6


def test_another_dimension_has_neighbours_of_its_own(manifest: Manifest) -> None:
    """Vectors of two dimensions are compared by neighbours of each file alone."""
    found = compared(manifest, OLD, OLD[:, :5], comparable=False)
    assert found.alone == pytest.approx(overlap(nearest(OLD, OLD), nearest(OLD[:, :5], OLD[:, :5])))
    assert (found.old_index, found.shared_index, found.together) == (None, None, None)
    assert np.mean(found.shares) == pytest.approx(found.alone)


def test_queries_have_vectors_of_their_own(manifest: Manifest) -> None:
    """Other queries find other neighbours, even among the same documents."""
    found = compared(manifest, OLD, OLD, queries=(OLD, -OLD))
    assert found.alone < 0.2
    assert compared(manifest, OLD, OLD, queries=(-OLD, -OLD)).alone == 1


def test_the_similarity_is_the_model_s(manifest: Manifest) -> None:
    """Lengths matter to a dot product and to a distance, and not to a cosine."""
    scales = RANDOM.uniform(0.2, 3, (40, 1)).astype(np.float32)
    by = {
        similarity: compared(
            manifest.model_copy(update={"similarity": similarity}), OLD, OLD * scales
        )
        for similarity in ("cosine", "dot", "euclidean")
    }
    assert by["cosine"].together == 1
    assert by["dot"].old_index == 1  # which a query's own length does not change
    assert by["dot"].shared_index is not None
    assert by["dot"].shared_index < 0.95
    assert by["euclidean"].alone < 0.95


def test_vectors_of_length_1_may_lie_in_an_index_of_dot_products(manifest: Manifest) -> None:
    """A file that does not normalise puts its vectors at other places of such an index."""
    found = compared(manifest, unit(OLD).astype(np.float32), OLD)
    assert (found.alone, found.old_index) == (1, 1)
    assert found.together is not None
    assert found.together < 0.95


def test_a_distance_is_one(manifest: Manifest) -> None:
    """Nearest by Euclidean distance, written out, are the nearest found."""
    euclid = manifest.model_copy(update={"similarity": "euclidean"})
    expected = []
    for vectors in (OLD, NEW):
        gaps = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
        np.fill_diagonal(gaps, np.inf)
        expected.append([{*map(int, np.argsort(row)[:NEAREST])} for row in gaps])
    assert compared(euclid, OLD, NEW).alone == pytest.approx(overlap(*expected))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_packed_bits_are_compared_bit_by_bit(
    every_feed_bits: Path, every_feed: Path, dtype: str
) -> None:
    """Packed bits have the neighbours of the signs that they stand for."""
    bits = RANDOM.integers(0, 256, (40, 4), dtype=np.uint8)
    signs = np.unpackbits(bits, axis=1) * 2.0 - 1
    changed = bits.copy()
    changed[::2, 0] ^= 129
    other = np.unpackbits(changed, axis=1) * 2.0 - 1
    packed = read_head(every_feed_bits).manifest.model_copy(update={"similarity": "hamming"})
    stored = [
        (one.astype(np.int16) - 128).astype(np.int8) if dtype == "int8" else one
        for one in (bits, changed)
    ]
    plain = read_head(every_feed).manifest.model_copy(update={"similarity": "dot"})
    found, expected = compared(packed, *stored), compared(plain, signs, other)
    assert found.alone == pytest.approx(expected.alone, abs=0.05)  # of ties any may be taken
    assert found.rank_correlation == pytest.approx(expected.rank_correlation)


def test_equal_similarities_share_the_mean_of_their_ranks(manifest: Manifest) -> None:
    """Pearson's correlation of such ranks is Spearman's where there are ties, as among bits."""
    dot = manifest.model_copy(update={"similarity": "dot"})
    old, new = RANDOM.integers(-2, 3, (2, 40, 4)).astype(np.float32)
    correlations = []
    for at in range(40):
        ranks = []
        for one in (old, new):
            near = np.delete(one[at] @ one.T, at)
            assert len({*near}) < len(near)
            ranks.append([np.sum(near < x) + (np.sum(near == x) - 1) / 2 for x in near])
        correlations.append(np.corrcoef(*ranks)[0, 1])
    found = compared(dot, old, new).rank_correlation
    assert found == pytest.approx(np.mean(correlations), abs=1e-9)


def test_what_is_no_number_is_near_nothing(manifest: Manifest) -> None:
    """A vector of NaN is nobody's neighbour, and has lost its own ten."""
    broken = OLD.copy()
    broken[3] = np.nan
    found = compared(manifest, OLD, broken)
    assert found.shares[3] == 0
    assert 0.8 < found.alone < 1


def test_ten_texts_have_no_ten_neighbours(manifest: Manifest) -> None:
    """Each of ten texts has only nine others."""
    kept = SearchVectors()
    kept.add(["document", "query"], [*OLD[:10, None]], [*NEW[:10, None]])
    assert compare_neighbours(kept, manifest, manifest, comparable=True) is None


WHOLE = np.random.default_rng(3).normal(size=(9, 8)).astype(np.float32)
CUT = WHOLE[:, :5]


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (CUT, "cut"),
        (CUT / np.linalg.norm(CUT, axis=1, keepdims=True), "cut and normalized"),
        (CUT * 2, None),
        (WHOLE[:, 1:6], None),
        (WHOLE, None),
        (np.concatenate([WHOLE, WHOLE], axis=1), None),
        (CUT.astype(np.int8), None),
    ],
)
def test_a_beginning_is_seen(new: np.ndarray, found: str | None) -> None:
    """The first elements are recognised, as they are or normalised again."""
    kept = SearchVectors()
    kept.add(["document", "query"], [*WHOLE[:, None]], [*new[:, None]])
    assert truncation(kept, TOLERANCES["cpu"]) == found


def test_queries_count_too() -> None:
    """Queries may differ even if documents are cut, so both are checked."""
    kept = SearchVectors()
    kept.add(["document"], [*WHOLE[:, None]], [*CUT[:, None]])
    kept.add(["query"], [*WHOLE[:, None]], [*-CUT[:, None]])
    assert truncation(kept, TOLERANCES["cpu"]) is None
    assert truncation(SearchVectors(), TOLERANCES["cpu"]) is None
