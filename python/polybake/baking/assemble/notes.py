"""Notes on what a bake assumed, where a user may want something else."""

import re
from collections.abc import Iterator, Mapping

from polybake.baking.sources.source import Source
from polybake.baking.sources.trained_prompts import trained_prompt
from polybake.baking.tasks import Rerank, Task
from polybake.base.files.printable import printable

_RERANKER = re.compile(r"rerank|cross-?encoder")


def notes(
    source: Source, task: Task, prompts: Mapping[str, str] | None, *, asked: bool
) -> Iterator[str]:
    """Yield notes on what the user has not set: weights, a family's prompts, a single label's task.

    Args:
        source: The source that is baked.
        task: The task that it is baked for.
        prompts: The user's prompts; None takes the source's.
        asked: Whether the user has named the task.
    """
    yield from source.folder.notes
    if task.prompted and prompts is None and not any(source.prompts.values()):
        known = trained_prompt(source.folder)
        if known is not None:
            name, query = known
            yield f"{printable(name)} was trained with prompts (query: '{query}'); set [prompts]"
    if task.name == Rerank.name and not asked and not _is_a_reranker(source):
        yield (
            f"{source.folder.path} has one label and was taken for a reranker; "
            'if it labels single texts, set task = "classify"'
        )


def _is_a_reranker(source: Source) -> bool:
    """Return whether its name or its files say so; a single label says nothing."""
    of_pairs = source.head is not None and source.head.of_pairs
    return of_pairs or _RERANKER.search(source.folder.identifier.lower()) is not None
