"""How far the vectors of a rebuilt source lie from the source's own vectors."""

from collections.abc import Sequence

import numpy as np

from polybake.baking.golden.golden import THREADS
from polybake.baking.graph.open_written import open_written
from polybake.baking.prove.deviation import deviation
from polybake.baking.prove.proof import encoded
from polybake.baking.sources.source import SourceReference
from polybake.baking.steps import Step
from polybake.base.modelfile.fixture import Case, decode_vectors
from polybake.base.modelfile.manifest import Contract, Dequantized


def measure_rebuilt(
    floats: Sequence[Case],
    contract: Contract,
    reference: SourceReference,
    steps: Sequence[Step],
) -> Dequantized | None:
    """Compare each text's vector with the source's vector for it alone, with steps in NumPy.

    Args:
        floats: The cases of the baked graph, before quantization.
        contract: The contract, with the inputs.
        reference: Names the output that the steps begin with, and the graph as it came, whose
            vectors are a text's own only in a batch of one.
        steps: The steps behind the encoder.

    Returns:
        The distance; None for a source that was not rebuilt.
    """
    source = reference.rebuilt
    if source is None:
        return None
    session = open_written(source.path, threads=THREADS, name="the source's own graph")
    before, after = [], []
    for case in floats:
        after.append(decode_vectors(case.embeddings))
        for row in case.rows(contract.vocab_size):
            alone = case.model_copy(update={"input_ids": (row,), "type_ids": None})
            state = encoded(alone, contract, session, reference)
            for step in steps:
                state = state if step.final else step.numpy(state)
            before.append(state.x)
    return Dequantized(
        products=source.rebuilt.products,
        tables=source.rebuilt.tables,
        deviation=deviation(np.concatenate(before), np.concatenate(after)),
    )
