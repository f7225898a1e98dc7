"""What model files are for, by the name that polybake.toml and the contract use."""

from polybake.tasks.classify import Classify
from polybake.tasks.embed import Embed
from polybake.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (Embed(), Classify())}

__all__ = ["TASKS", "Classify", "Embed", "Task"]
