"""Statistics of the inputs of a graph's matmuls, on texts of random tokens."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxscript import ir
from tokenizers import Tokenizer

from polybake.baking.graph.session import open_written
from polybake.baking.graph.write import write_to_run
from polybake.baking.quantization.matmuls import Group, groups
from polybake.baking.quantization.rounding import Floats
from polybake.base.modelfile.manifest import Contract
from polybake.base.texts.window import cut
from polybake.runtime.feeds import feeds
from polybake.runtime.session import run
from polybake.runtime.tokenizer import BakedTokenizer

_TEXTS = 96

#: The range of the number of tokens of a text, from short texts to most sentences.
_LENGTHS = (4, 120)

#: The rows that are collected for one matmul of moments; adding it costs as much as for one row.
_WAITING = 512


def random_texts(contract: Contract, tokenizer: BakedTokenizer) -> list[str]:
    """Return texts with tokens drawn from the whole vocabulary, the same in each call.

    Random tokens favour no text, and real texts remain to judge the result.
    """
    random = np.random.default_rng(0)
    decoder = Tokenizer.from_str(tokenizer.json)
    lengths = random.integers(*_LENGTHS, _TEXTS)
    rows = [random.integers(0, contract.vocab_size, length).tolist() for length in lengths]
    return [decoder.decode(row) for row in rows]


class Statistics:
    """Statistics of the rows that a group's matmuls multiply.

    Attributes:
        least: The smallest value of each input, ``[in]``.
        largest: The largest value of each input, ``[in]``.
    """

    def __init__(self, inputs: int) -> None:
        self.least = np.full(inputs, np.inf, np.float32)
        self.largest = np.full(inputs, -np.inf, np.float32)
        self._origin: Floats = np.zeros(inputs, np.float32)
        self._waiting: list[Floats] = []
        self._rows = 0
        self._sums = np.zeros(inputs)
        self._moments = np.zeros((inputs, inputs), np.float32)

    def add(self, x: Floats) -> None:
        """Add rows ``[..., in]``, of which an expert may have none."""
        rows = x.reshape(-1, len(self.least))
        if not len(rows):
            return
        np.minimum(self.least, rows.min(axis=0), out=self.least)
        np.maximum(self.largest, rows.max(axis=0), out=self.largest)
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= _WAITING:
            self._sum()

    def _sum(self) -> None:
        if self._waiting:
            rows = np.concatenate(self._waiting)
            self._waiting.clear()
            if not self._rows:
                # The squares of inputs that hardly vary, far from 0, leave no digits for how much.
                self._origin = rows.mean(axis=0)
            rows -= self._origin
            self._rows += len(rows)
            self._sums += rows.sum(axis=0, dtype=np.float64)
            self._moments += rows.T @ rows

    @property
    def center(self) -> Floats:
        """Half way between the extremes, ``[in]``; 0 without a row.

        Source: Outlier Suppression+ (Wei et al. 2023), its shift.
        """
        if not (self._rows or self._waiting):
            return np.zeros_like(self.least)
        center: Floats = self.least + (self.largest - self.least) * np.float32(0.5)
        return center

    def moments(self, center: Floats) -> NDArray[np.float64]:
        """The mean of ``(x - center) (x - center)^T``, ``[in, in]``; 0 without a row."""
        self._sum()
        if not self._rows:
            return np.zeros(self._moments.shape)
        mean, about = self._sums / self._rows, center.astype(np.float64) - self._origin
        crossed = np.outer(mean, about)
        moments: NDArray[np.float64] = (
            self._moments / self._rows - crossed - crossed.T + np.outer(about, about)
        )
        return moments


class Calibration:
    """A float32 graph that returns some of its values, text by text."""

    def __init__(
        self, session: ort.InferenceSession, contract: Contract, rows: Sequence[Sequence[int]]
    ) -> None:
        self._session = session
        self._contract = contract
        self._rows = rows

    @classmethod
    def of(
        cls,
        model: ir.Model,
        values: Sequence[ir.Value],
        contract: Contract,
        rows: Sequence[Sequence[int]],
        folder: Path,
    ) -> Self:
        """Write ``model`` to ``folder`` with ``values`` as outputs; it is left as it was."""
        copy = model.clone()
        names = {value.name for value in values}
        outputs = [value for node in copy.graph for value in node.outputs if value.name in names]
        for output in outputs:
            output.dtype = ir.DataType.FLOAT
            output.shape = None
        copy.graph.outputs.extend(outputs)
        path = folder / "calibration.onnx"
        write_to_run(copy, path)
        return cls(open_written(path, threads=1, name="the graph"), contract, rows)

    def statistics(self, window: Sequence[Group]) -> list[Statistics]:
        """Return the statistics of the rows of each group, over all texts and layers."""
        results = [Statistics(group.inputs) for group in window]
        of_value = {
            str(value.name): statistics
            for statistics, group in zip(results, window, strict=True)
            for value in group.values
        }
        for row in self._rows:
            values = run(self._session, list(of_value), feeds(self._contract, [row]))
            for statistics, value in zip(of_value.values(), values, strict=True):
                statistics.add(value)
        return results


#: Bytes of the statistics that are held at a time; each window runs all texts.
_HELD = 2 << 30


def calibrated(
    model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path
) -> Iterator[tuple[Group, Statistics]]:
    """Yield the groups of ``model`` in its order; each may be rewritten before the next."""
    group_list = groups(model.graph)
    calibration = Calibration.of(
        model, [value for group in group_list for value in group.values], contract, rows, folder
    )
    for window in cut(((group, 4 * group.inputs**2) for group in group_list), _HELD):
        yield from zip(window, calibration.statistics(window), strict=True)
