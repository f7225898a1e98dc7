"""The tasks of model files, by their names in polybake.toml and in the contract."""

from polybake.baking.sources.source import Source
from polybake.baking.tasks.answer import Answer
from polybake.baking.tasks.classify import Classify
from polybake.baking.tasks.classify_pairs import ClassifyPairs
from polybake.baking.tasks.embed import Embed
from polybake.baking.tasks.hybrid import Hybrid
from polybake.baking.tasks.multi_vector import MultiVector
from polybake.baking.tasks.rerank import Rerank
from polybake.baking.tasks.sparse import Sparse
from polybake.baking.tasks.tag import Tag
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.baking.tasks.text_words import known_of
from polybake.baking.tasks.zero_shot import ZeroShot
from polybake.base.files.validation import choices
from polybake.errors import InputError

#: All tasks, in the order in which a source is matched; every source can embed.
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Rerank(),
        ZeroShot(),
        ClassifyPairs(),
        Classify(),
        Tag(),
        Answer(),
        Sparse(),
        MultiVector(),
        Hybrid(),
        Embed(),
    )
}


def task_of(source: Source, name: str | None = None) -> Task:
    """Return the task of this name, or without a name the task that a source was trained for."""
    if name is not None and name not in TASKS:
        raise InputError(f"model.task: unknown task {name!r}; {choices(name, TASKS)}")
    fitting = (task for task in TASKS.values() if task.fits(source))
    task = next(fitting) if name is None else TASKS[name]
    head = source.head
    if head is not None and head.unsaid and task.head != head.kind:
        names = [entry.name for entry in TASKS.values() if entry.head == head.kind]
        words = " or ".join(f'"{key}"' for key in names)
        raise InputError(
            f"{head.unsaid}; expected an architecture that ends in {head.kind} in config.json "
            f"(architectures); name it there, or say task = {words} below [model] in polybake.toml "
            f"(--set model.task={names[0]}); for embeddings export "
            "float32 last_hidden_state [batch, sequence, hidden] or sentence_embedding "
            "[batch, dimension]"
        )
    return task


__all__ = [
    "TASKS",
    "Answer",
    "Classify",
    "ClassifyPairs",
    "Embed",
    "Hybrid",
    "Known",
    "MultiVector",
    "Outputs",
    "Rerank",
    "Sparse",
    "Tag",
    "Task",
    "ZeroShot",
    "known_of",
    "task_of",
]
