"""What model files are for, by the name that polybake.toml and the contract use."""

from polybake.baking.sources.source import Source
from polybake.baking.tasks.answer import Answer
from polybake.baking.tasks.classify import Classify
from polybake.baking.tasks.embed import Embed
from polybake.baking.tasks.multi_vector import MultiVector
from polybake.baking.tasks.rerank import Rerank
from polybake.baking.tasks.sparse import Sparse
from polybake.baking.tasks.tag import Tag
from polybake.baking.tasks.task import Found, Known, Task
from polybake.baking.tasks.text_words import known_of
from polybake.baking.tasks.zero_shot import ZeroShot
from polybake.errors import InputError

#: In the order in which a source is asked what it was trained for; every one can embed.
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Rerank(),
        ZeroShot(),
        Classify(),
        Tag(),
        Answer(),
        Sparse(),
        MultiVector(),
        Embed(),
    )
}


def task_of(source: Source, name: str | None = None) -> Task:
    """The task of this name, or the one that a source was trained for.

    Raises:
        InputError: there is no such task.
    """
    if name is None:
        return next(task for task in TASKS.values() if task.fits(source))
    if name not in TASKS:
        raise InputError(f"model.task: unknown task {name!r}; choose one of: {', '.join(TASKS)}")
    return TASKS[name]


__all__ = [
    "TASKS",
    "Answer",
    "Classify",
    "Embed",
    "Found",
    "Known",
    "MultiVector",
    "Rerank",
    "Sparse",
    "Tag",
    "Task",
    "ZeroShot",
    "known_of",
    "task_of",
]
