"""Formatters, linters and compilers have nothing to say of what is rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from generation.clients.conftest import Pair, can_have, only
from models.files.task_models import TASK_MODELS
from support.clients.hostile import CONTRACTS
from support.clients.rendered import NAMES, OUTPUTS, write
from support.clients.toolchain import Toolchain


def test_every_render_is_formatted(
    toolchain: Toolchain, models: dict[str, Path], every_feed: Path, tmp_path: Path
) -> None:
    """Whatever the name, the prompts, the type of the embeddings and the task."""
    language = toolchain.language
    for name, (contract, changes) in zip((*NAMES, NAMES[-1]), CONTRACTS.items(), strict=True):
        write(language, tmp_path / contract, every_feed, name=name, contract=changes)
    for dtype, output in OUTPUTS.items():
        write(language, tmp_path / dtype, every_feed, contract={"output": output})
    for kind in ("every_feed_beside", *TASK_MODELS):
        if can_have(language, kind):
            write(language, tmp_path / kind, models[kind])
    write(language, tmp_path / "core", every_feed, parts=())
    sources = toolchain.sources(tmp_path)
    assert len({path.relative_to(tmp_path).parts[0] for path in sources}) > len(TASK_MODELS)
    assert toolchain.formatted(tmp_path) >= len(sources)


def test_checkers_find_nothing(
    toolchain: Toolchain, client: Path, clients: dict[str, Pair]
) -> None:
    """Nor do those that judge types and style, in a client of each kind and task."""
    toolchain.check_strictly(client, *(folder for _, folder in clients.values()))


@pytest.mark.parametrize("language", only("ruby", "csharp", "java", "go", "rust"), indirect=True)
def test_recipes_are_formatted(toolchain: Toolchain, repository: Path) -> None:
    """Here those that need no package for it; the others are judged with their libraries."""
    sources = toolchain.sources(repository / "recipes")
    assert sources
    assert toolchain.formatted(repository / "recipes") >= len(sources)
