"""The end of a model's folder: what a bake opens and builds, without proofs and writing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from polybake.baking.assemble.build import build, encoder_for
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from polybake.config import Config
from polybake.errors import InputError


@dataclass(frozen=True)
class End:
    """What became of a folder.

    Attributes:
        task: What it bakes for; empty where it is refused.
        dimension: Numbers of a row.
        message: The words of the refusal.
        assumes: Whether the steps are assumed, as nothing names any.
        lacks_prompts: Whether it takes prompts, and its own files have none.
    """

    task: str = ""
    dimension: int = 0
    message: str = ""
    assumes: bool = False
    lacks_prompts: bool = False


def end_of(folder: Path, table: dict[str, object]) -> End:
    """Open a folder and build its graph, weights included."""
    named = {"name": "tiny", "source": folder, "output": folder / "tiny.onnx", **table}
    model = Config.model_validate({"model": named}).model
    try:
        source = replace(open_source(model.source, model), labels=model.labels)
        task = task_of(source, model.task)
        steps = resolve(task.recipe(source) or source.assumed, base=folder, source=source)
        prompts = bake_prompts(source, steps, None, None)
        _, built = build(source, encoder_for(source, steps, task), steps, prompts, task, model)
    except InputError as error:
        return End(message=str(error))
    lacks = task.prompted and not any(source.prompts.values())
    assumes = bool(source.assumed) and not task.recipe(source)
    return End(task.name, built.contract.output.dimension, assumes=assumes, lacks_prompts=lacks)
