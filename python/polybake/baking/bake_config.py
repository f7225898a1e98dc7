"""Bake the model that a polybake.toml describes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polybake.baking.assemble.build import encoder_for, place
from polybake.baking.assemble.notes import notes
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.bake import EMBED, BakeReport, Progress, bake, quiet
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import Source, open_source
from polybake.baking.steps import Step
from polybake.baking.tasks import Classify, Rerank, Task, task_of
from polybake.config import Config
from polybake.errors import InputError


def opened(
    config: Config, steps: Sequence[Step | Mapping[str, object]] | None = None
) -> tuple[Source, Task, list[Step]]:
    """Open the source that a config names; return it with its task and steps.

    ``steps`` stand for the config's; without either, the source's own are taken.
    """
    model = config.model
    source = replace(open_source(model.source, model, config.rerank), labels=model.labels)
    listed = steps if steps is not None else config.steps
    task = task_of(source, model.task if listed is None else model.task or EMBED.name)
    if not task.prompted:  # sentence-transformers gives every model two empty prompts
        source = replace(source, prompts={name: t for name, t in source.prompts.items() if t})
    if model.labels and not task.labelled:
        raise InputError(
            f"model.labels: a model of the task {task.name!r} has none; leave them out, or say "
            f'task = "{Classify.name}"'
        )
    if config.rerank is not None and task.name != Rerank.name:
        raise InputError(
            f"rerank: a model of the task {task.name!r} is not asked so; leave the table out, or "
            f'say task = "{Rerank.name}"'
        )
    listed = task.recipe(source) if listed is None else listed
    if not listed and source.head is not None and source.head.kind == "ForMaskedLM":
        raise InputError(
            f"{source.folder.path}: its architecture ends in ForMaskedLM, and it lists no steps; "
            'say task = "sparse" where its head weighs tokens (SPLADE), or list the [[steps]] that '
            'its authors name, such as: step = "pool", mode = "mean"'
        )
    resolved = resolve(listed, base=config.folder, source=source)
    source.folder.allowed.check_all_met()
    return source, task, resolved


def check_recipe(source: Source, task: Task) -> None:
    """Check that the encoder and the steps that its source names make a graph, as a bake does.

    What only the user can say, such as labels, is not asked for.
    """
    recipe = task.recipe(source) or source.assumed
    if recipe or source.pooled is not None:
        steps = resolve(recipe, base=source.folder.path, source=source)
        used = bake_prompts(source, steps, None, None)
        place(encoder_for(source, steps, task), steps, used, task)


def bake_config(
    config: Config,
    steps: Sequence[Step | Mapping[str, object]] | None = None,
    progress: Progress = quiet,
) -> BakeReport:
    """Open the source, read the files that its steps name, and bake.

    ``steps`` stand for the config's; without either, the source's own are taken.
    """
    source, task, resolved = opened(config, steps)
    has_task, listed = config.model.task is not None, steps is not None or config.steps is not None
    assumed = tuple(notes(source, task, config.prompts, asked=has_task, listed=listed))
    return replace(bake(source, resolved, config, task, progress), notes=assumed)
