"""A corpus of two windows, written by one kind of output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from polybake.base.modelfile.manifest import Output
from polybake.base.texts import open_corpus
from polybake.bulk.embed.outputs import output_for


def written(corpus: Path, vectors: np.ndarray, suffix: str, record: dict[str, Any]) -> Path:
    """The file of all rows, two in a part."""
    source = open_corpus(corpus)
    contract = Output(name="out", dtype=str(vectors.dtype), dimension=vectors.shape[1])
    out = corpus.with_name(f"out{suffix}")
    output = output_for(out)(source, contract)
    parts = []
    for number, window in enumerate(source.windows(whole=output.carries)):
        parts.append(corpus.with_name(f"{number}{suffix}"))
        first = window.places[0] - 1
        with parts[-1].open("wb") as file:
            output.write_part(file, window, vectors[first : first + len(window)])
    with out.open("wb") as file:
        output.join(file, parts, record)
    return out
