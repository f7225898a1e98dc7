"""Check that an export gives the golden vectors; otherwise it is not written."""

from collections.abc import Callable

from polybake.base.modelfile.compare import compare_vectors, largest_difference
from polybake.base.modelfile.container import FileHead
from polybake.base.modelfile.fixture import Case, decode_slack, decode_vectors
from polybake.base.modelfile.slack import Embeddings
from polybake.errors import CheckFailed


def reproduced(head: FileHead, vectors: Callable[[Case], Embeddings]) -> float:
    """Compare the result of ``vectors`` for each golden case with the file's vectors.

    Returns:
        The largest absolute difference of an element; for packed bits, how many bits of an
        element differ.

    Raises:
        CheckFailed: A vector lies outside the file's tolerance.
    """
    largest = 0.0
    for case in head.fixture.cases:
        golden, slack = decode_vectors(case.embeddings), decode_slack(case.embeddings)
        found = vectors(case)
        difference = compare_vectors(golden, found, head.fixture.tolerances["cpu"], slack)
        if difference:
            raise CheckFailed(
                f"{head.path}: exported, case {case.id} gives other vectors: {difference.message}; "
                "nothing was written, run the file itself"
            )
        largest = max(largest, largest_difference(golden, found, slack))
    return largest
