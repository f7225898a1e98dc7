"""What the products of a graph are given, on texts of random tokens."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxscript import ir
from tokenizers import Tokenizer

from polybake.graph.write import write_to_run
from polybake.modelfile.manifest import Contract
from polybake.quantization.products import Group
from polybake.runtime.feeds import feeds
from polybake.runtime.session import open_session, run
from polybake.tokenization.tokenizer import BakedTokenizer

Floats = NDArray[np.float32]

_TEXTS = 96

#: Tokens of a text: most sentences', and short ones.
_LENGTHS = (4, 120)


def random_texts(contract: Contract, tokenizer: BakedTokenizer) -> list[str]:
    """Texts whose tokens are drawn from the whole vocabulary, the same at each call.

    What belongs to no text in particular flatters none: real ones are left to judge the result.
    """
    random = np.random.default_rng(0)
    decoder = Tokenizer.from_str(tokenizer.json)
    lengths = random.integers(*_LENGTHS, _TEXTS)
    rows = [random.integers(0, contract.vocab_size, length).tolist() for length in lengths]
    return [decoder.decode(row) for row in rows]


class Calibration:
    """A float32 graph that gives what some of its values are, text by text."""

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
        outputs = [one for node in copy.graph for one in node.outputs if one.name in names]
        for output in outputs:
            output.dtype = ir.DataType.FLOAT
            output.shape = None
        copy.graph.outputs.extend(outputs)
        path = folder / "calibration.onnx"
        write_to_run(copy, path)
        return cls(open_session(path, threads=1, name="the graph"), contract, rows)

    def inputs(self, window: Sequence[Group]) -> Iterator[Floats]:
        """What each group multiplies: a row for each token of all texts, ``[rows, in]``."""
        values = [value for group in window for value in group.values]
        names = [str(value.name) for value in values]
        runs = [run(self._session, names, feeds(self._contract, [row])) for row in self._rows]
        for group in window:
            places = [values.index(value) for value in group.values]
            arrays = [found[place] for place in places for found in runs]
            yield np.concatenate([array.reshape(-1, group.inputs) for array in arrays])
