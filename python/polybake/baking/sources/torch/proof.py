"""Prove that an exported encoder gives PyTorch's token embeddings at every shape."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polybake.baking.sources.torch.model import TorchModel
from polybake.base.modelfile.tolerance import LIMIT, relative_difference
from polybake.errors import CheckFailed
from polybake.runtime.session import open_session
from polybake.runtime.tokenizer import BakedTokenizer, Side


@dataclass(frozen=True)
class Expectation:
    """PyTorch's result for a batch.

    Attributes:
        texts: The lengths and the side of the padding, in words.
        fed: The inputs by name, int64 ``[batch, sequence]``.
        embeddings: float32 ``[tokens, hidden]``, without padding.
    """

    texts: str
    fed: dict[str, NDArray[np.int64]]
    embeddings: NDArray[np.float32]

    def difference(self, found: NDArray[np.float32]) -> float:
        """Return the largest difference to ``[batch, sequence, hidden]``, relative to L2 norms."""
        tokens = found[self.fed["attention_mask"] == 1]
        return relative_difference(tokens, self.embeddings.astype(np.float64))


def expectations(model: TorchModel, tokenizer: BakedTokenizer) -> list[Expectation]:
    """Run random token ids, longest text first, as a short text changes some models for good.

    Source: transformers ``BigBirdModel``, which leaves sparse attention when a text is short.
    """
    random = np.random.default_rng(7)
    ids = np.array([number for number in range(model.vocabulary) if number != tokenizer.pad_id])
    results = []
    for lengths, side in _batches(tokenizer.max_length):
        mask = _mask(lengths, side)
        fed = {
            "input_ids": np.where(mask == 1, random.choice(ids, mask.shape), tokenizer.pad_id),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        texts = f"texts of {', '.join(map(str, lengths))} tokens, padded on the {side}"
        results.append(Expectation(texts, fed, model.run(fed)[mask == 1]))
    return results


def prove(model: TorchModel, path: Path, expected: Sequence[Expectation]) -> None:
    """Compare an exported file with the model's results before the export."""
    session = open_session(path, name=f"{model.kind}: PyTorch's export")
    remedy = "try another version of PyTorch, or give an .onnx file made elsewhere"
    for case in expected:
        fed = {name: case.fed[name] for name in model.feeds}
        try:
            output = session.run([model.output], fed)[0]
        except Exception as error:  # ONNX Runtime's exceptions share no base class
            reason = " ".join(str(error).split())
            raise CheckFailed(
                f"{model.kind}: PyTorch's export does not run for {case.texts} ({reason}); {remedy}"
            ) from error
        difference = case.difference(output)
        if not difference <= LIMIT:
            raise CheckFailed(
                f"{model.kind}: PyTorch's export differs from PyTorch by {difference:.3g}, more "
                f"than {LIMIT:g}, for {case.texts}; {remedy}"
            )


def _batches(longest: int) -> Iterator[tuple[tuple[int, ...], Side]]:
    """Yield the lengths of the texts of each batch, and the side of its padding."""
    short, middle = min(2, longest), min(19, longest)
    for lengths in ((longest,), (middle,), (short,), (1,), (middle, middle)):
        yield lengths, "right"
    for side in ("right", "left"):
        yield (middle, 1, short), side
        yield (short, middle), side


def _mask(lengths: Sequence[int], side: Side) -> NDArray[np.int64]:
    width = max(lengths)
    mask = np.zeros((len(lengths), width), np.int64)
    for row, length in zip(mask, lengths, strict=True):
        row[width - length if side == "left" else 0 :][:length] = 1
    return mask
