"""What a client must give before it is timed: the model's own vectors."""

from collections.abc import Sequence
from dataclasses import replace

from polybake.baking.golden.edges import Edges
from polybake.base.modelfile.fixture import Case, Text, encode_vectors
from polybake.base.modelfile.manifest import UNQUANTIZED, Output
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.verification.judging.golden import GoldenCase


def expected(embedder: Embedder, name: str, texts: Sequence[Text]) -> GoldenCase:
    """Embed texts in one call; also return how far a quantized model's integers may differ."""
    runner = embedder.runner
    if runner.contract.further_outputs:
        raise InputError(
            f"{embedder.path}: gives a text several outputs, and a bench times one; "
            "time a client of it by itself: polybake generate"
        )
    rows, output = runner.ids(texts), runner.contract.output
    vectors, slack = runner.embed(rows), None
    edges = Edges.of(embedder.path, output, embedder.head.fixture.tolerances)
    if edges is not None:
        floats = Output(name=UNQUANTIZED, dimension=output.dimensions)
        contract = runner.contract.model_copy(update={"output": floats})
        slack = edges.slack(replace(runner, contract=contract).embed(rows))
    case = Case(
        id=name,
        why="what is timed is right",
        texts=tuple(texts),
        input_ids=tuple(map(tuple, rows)),
        embeddings=encode_vectors(vectors, slack),
    )
    return GoldenCase(case, vectors, slack)
