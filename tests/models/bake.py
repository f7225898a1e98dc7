"""Bake a source that a test holds, with settings as keywords in place of a polybake.toml."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polybake.baking.bake import BakeReport
from polybake.baking.bake import bake as bake_source
from polybake.baking.sources.source import Source
from polybake.baking.steps import Step
from polybake.baking.tasks import Embed, Task
from polybake.config import Config, FixturesTable, ModelTable


def bake(
    source: Source,
    steps: Sequence[Step],
    out: Path,
    *,
    name: str = "tiny",
    task: Task = Embed(),  # noqa: B008 - it has no state
    prompts: Mapping[str, str] | None = None,
    texts: Sequence[Path] = (),
    **settings: Any,
) -> BakeReport:
    """Bake ``steps`` over the encoder of ``source``; the cases have ``texts``, too."""
    model = ModelTable(
        name=name,
        source=source.folder.path,
        output=out,
        **settings,
    )
    config = Config(
        model=model,
        prompts=None if prompts is None else dict(prompts),
        fixtures=FixturesTable(texts=tuple(texts), embed="all"),
    )
    return bake_source(source, steps, config, task)
