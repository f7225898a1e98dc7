"""Fit the arrays of steps to a corpus: its mean, principal components, whitening and ranges."""

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from polybake import __version__
from polybake.base.files.atomic import replacing
from polybake.base.files.fit_record import RECORD, arrays_of
from polybake.base.modelfile.manifest import Manifest
from polybake.base.texts.progress import tracked
from polybake.bulk.fit.corpus import Corpus
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.processors import processors

FittedArrays = dict[str, NDArray[np.float32]]

#: The texts that are embedded at a time, so that memory does not grow with the corpus.
_WINDOW = 4096

#: The least variance, relative to the largest; smaller ones are float32's rounding.
_LEAST_VARIANCE = 1e-9

#: The least spread, relative to the largest value; equal texts differ by less, in batches with
#: other padding.
_LEAST_SPREAD = 1e-6

#: The least range, relative to the widest; 255 steps of a narrower range would be that rounding.
_LEAST_RANGE = 1e-4


@dataclass(frozen=True)
class Wanted:
    """What is fitted beside the mean; None leaves an array out.

    Attributes:
        pca: Components of the ``pca`` step, ``components.npy``.
        whiten: Elements that the ``whiten`` step gives, the columns of ``matrix.npy``.
        remove_components: Components that the ``remove_components`` step removes, ``top.npy``.
        ranges: Whether the smallest and largest values are fitted, ``ranges.npy``.
    """

    pca: int | None = None
    whiten: int | None = None
    remove_components: int | None = None
    ranges: bool = False


def fit(
    model: Path,
    corpus: Corpus,
    wanted: Wanted,
    out: Path,
    *,
    prompt: str | None = None,
    console: Console,
) -> dict[str, object]:
    """Embed a corpus with a baked model file and write the fitted arrays to the folder ``out``.

    Returns:
        The record of the arrays' origin, as written to ``fit.json``.
    """
    embedder = Embedder(model, threads=1, at_once=processors())
    task, output = embedder.manifest.contract.task, embedder.manifest.contract.output
    if task != "embed":
        raise InputError(f"{model}: is made for the task {task!r}, expected 'embed'; bake it so")
    if output.dtype != "float32":
        raise InputError(
            f"{model}: gives {output.dtype}; fit on a model file baked without its quantize step"
        )
    total = sum(1 for _ in corpus)  # also finds a damaged file before the long run
    moments = Moments(output.dimension)
    with tracked("embedding texts", total, console) as advance:
        for batch in _embedded(embedder, corpus, prompt, advance):
            moments.add(batch)
    arrays = fitted(moments, wanted)
    files = {name: _npy(array) for name, array in arrays.items()}
    record = _record(embedder.manifest, prompt, corpus, moments.count, arrays, files)
    _write(out, files, record)
    return record


def _embedded(
    embedder: Embedder, texts: Iterable[str], prompt: str | None, advance: Callable[[int], None]
) -> Iterator[NDArray[np.float32]]:
    """Yield float32 ``[texts, dimension]``, window by window, without texts that have no tokens.

    Equal texts give equal sums on any number of cores: each batch runs on one thread.
    """
    remaining = iter(texts)
    while window := list(islice(remaining, _WINDOW)):
        rows = [row for row in embedder.tokenize(window, prompt=prompt) if row]
        advance(len(window) - len(rows))
        yield embedder.runner.embed(rows, prompt, progress=advance)


Doubles = NDArray[np.float64]


class Moments:
    """The running sums of any number of embeddings, in float64.

    Attributes:
        count: Embeddings added.
        total: float64 ``[dimension]``, their sum.
        products: float64 ``[dimension, dimension]``, the sum of their outer products.
        ranges: float64 ``[2, dimension]``, the smallest and the largest value of each element.
    """

    def __init__(self, dimension: int) -> None:
        self.count = 0
        self.total: Doubles = np.zeros(dimension)
        self.products: Doubles = np.zeros((dimension, dimension))
        self.ranges: Doubles = np.array([[np.inf], [-np.inf]]).repeat(dimension, axis=1)

    def add(self, embeddings: NDArray[np.float32]) -> None:
        """Add float32 ``[batch, dimension]``."""
        rows = embeddings.astype(np.float64)
        self.count += len(rows)
        self.total += rows.sum(axis=0)
        self.products += rows.T @ rows
        np.minimum(self.ranges[0], rows.min(axis=0), out=self.ranges[0])
        np.maximum(self.ranges[1], rows.max(axis=0), out=self.ranges[1])

    def mean(self) -> Doubles:
        """The mean, float64 ``[dimension]``."""
        return self.total / self.count

    def covariance(self) -> Doubles:
        """The sample covariance (divided by count - 1), float64 ``[dimension, dimension]``."""
        mean = self.mean()
        return (self.products - self.count * np.outer(mean, mean)) / (self.count - 1)

    def principal(self) -> tuple[Doubles, Doubles]:
        """Return the components' variances, largest first, and the principal components as rows.

        The largest element of each component is positive, as an eigenvector's sign is arbitrary.

        Returns:
            float64 ``[dimension]`` and ``[dimension, dimension]``.
        """
        variances, columns = np.linalg.eigh(self.covariance())
        components = columns.T[::-1]
        largest = np.abs(components).argmax(axis=1)
        signs = np.sign(components[np.arange(len(components)), largest])
        return variances[::-1], components * signs[:, np.newaxis]


def fitted(moments: Moments, wanted: Wanted) -> FittedArrays:
    """Compute the parameters of the fitted steps from the moments of a corpus.

    Returns:
        float32 arrays by file name: ``mean.npy`` ``[dimension]``, ``components.npy``
        ``[pca, dimension]``, ``matrix.npy`` ``[dimension, whiten]``, ``top.npy``
        ``[remove_components, dimension]`` and ``ranges.npy`` ``[2, dimension]``.
    """
    if not moments.count:
        raise InputError("the corpus holds no text that has tokens; give one text a line")
    if not np.isfinite(moments.products).all():
        raise CheckFailed(
            "an embedding of the corpus holds NaN or infinity; find it with: polybake check MODEL"
        )
    if not _varies(moments) and wanted != Wanted():
        raise InputError(
            f"all {moments.count} texts of the corpus have the same embedding, to which only a "
            "mean can be fitted; give texts that differ"
        )
    arrays = {"mean.npy": moments.mean()}
    if wanted.ranges:
        arrays["ranges.npy"] = _ranges(moments)
    if _check_counts(moments, wanted):
        variances, components = moments.principal()
        if wanted.pca:
            arrays["components.npy"] = components[: wanted.pca]
        if wanted.whiten:
            deviations = _deviations(variances, wanted.whiten)
            arrays["matrix.npy"] = components[: wanted.whiten].T / deviations
        if wanted.remove_components:
            arrays["top.npy"] = components[: wanted.remove_components]
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _varies(moments: Moments) -> bool:
    """Whether any element varies by more than the rounding of float32 embeddings."""
    low, high = moments.ranges
    return bool(np.max(high - low) > _LEAST_SPREAD * np.abs(moments.ranges).max())


def _check_counts(moments: Moments, wanted: Wanted) -> bool:
    """Whether any components are wanted, and the texts give as many."""
    dimension = len(moments.total)
    most = min(dimension, moments.count - 1)
    counts = {
        "pca": wanted.pca,
        "whiten": wanted.whiten,
        "remove-components": wanted.remove_components,
    }
    requests = {name: count for name, count in counts.items() if count is not None}
    for name, count in requests.items():
        if not 0 < count <= most:
            raise InputError(
                f"--{name} {count}: {moments.count} texts of {dimension} elements give 1 to {most} "
                "components; ask for fewer or give more texts"
            )
    return bool(requests)


def _deviations(variances: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    known = int(np.sum(variances > _LEAST_VARIANCE * variances[0]))
    if count > known:
        raise InputError(
            f"--whiten {count}: the corpus varies in {known} directions only; "
            f"ask for at most {known}"
        )
    return np.sqrt(variances[:count])


def _ranges(moments: Moments) -> NDArray[np.float64]:
    """The smallest and the largest values; an element that hardly varies keeps its smallest."""
    low, high = moments.ranges
    width = high - low
    return np.stack([low, np.where(width > _LEAST_RANGE * width.max(), high, low)])


def _npy(array: NDArray[np.float32]) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def _record(
    manifest: Manifest,
    prompt: str | None,
    corpus: Corpus,
    texts: int,
    arrays: FittedArrays,
    files: Mapping[str, bytes],
) -> dict[str, object]:
    return {
        "model": {
            "name": manifest.name,
            "fingerprint": manifest.fingerprint,
            "steps": manifest.steps,
            "prompt": prompt or manifest.contract.default_prompt,
        },
        "corpus": {"file": corpus.path.name, "sha256": corpus.sha256(), "texts": texts},
        "arrays": {name: list(array.shape) for name, array in arrays.items()},
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "polybake": __version__,
    }


def _write(out: Path, files: Mapping[str, bytes], record: dict[str, object]) -> None:
    # Arrays of an earlier fit do not match a new mean.
    known = {"components.npy", "matrix.npy", "top.npy", "ranges.npy"}
    leftovers = sorted(known & arrays_of(out) - set(files))
    for name, content in files.items():
        with replacing(out / name) as file:
            file.write(content)
    with replacing(out / RECORD) as file:
        file.write(json.dumps(record, indent=2).encode("ascii") + b"\n")
    for name in leftovers:
        (out / name).unlink(missing_ok=True)
