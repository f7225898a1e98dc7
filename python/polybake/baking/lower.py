"""In which precision a graph computes, and how its weights are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onnxscript import ir

from polybake.graph.storage import store_narrow
from polybake.modelfile.manifest import Contract, Precision, Storage
from polybake.quantization.calibration import random_texts
from polybake.quantization.int8 import quantize
from polybake.tokenization.tokenizer import BakedTokenizer


@dataclass(frozen=True)
class Lowering:
    """What is given up of a float32 graph for its size or its speed.

    Attributes:
        calibration: Texts that int8's ranges are chosen by; none takes random tokens.
    """

    precision: Precision = "float32"
    storage: Storage = "checkpoint"
    calibration: Sequence[str] = ()

    @property
    def changes(self) -> bool:
        """Whether any vector may change."""
        return (self.precision, self.storage) != (EXACT.precision, EXACT.storage)

    def apply(
        self, model: ir.Model, contract: Contract, tokenizer: BakedTokenizer, folder: Path
    ) -> None:
        """Lower ``model``, whose weights are float32, in place.

        Raises:
            InputError: a weight is beyond float16's range.
        """
        if self.precision == "int8":
            texts = self.calibration or random_texts(contract, tokenizer)
            quantize(model, contract, tokenizer.encode(texts), folder)
        store_narrow(model, self.storage)


EXACT = Lowering()
