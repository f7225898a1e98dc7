"""``polybake fixtures``: golden cases of a model file as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.bake import own_cases
from polybake.commands.target import DEFAULT_CONFIG, ConfigOrModel
from polybake.errors import RequirementMissing

if TYPE_CHECKING:
    from polybake.fixtures.texts import CaseText


def fixtures(
    target: ConfigOrModel = DEFAULT_CONFIG,
    output: Annotated[Path | None, typer.Option(help="The folder to write.")] = None,
) -> None:
    """Write golden cases: the built-in texts and your own, with the vectors they must give.

    Example: polybake fixtures polybake.toml
    """
    from polybake.config import load_config
    from polybake.modelfile.container import read_head

    extra: list[CaseText] = []
    model, folder = target, output
    if target.suffix == ".toml":
        config = load_config(target)
        extra, model = own_cases(config), config.model.output
        folder = output or config.fixtures.output
    folder = folder or Path("fixtures") / read_head(model).manifest.name
    typer.echo(write_fixtures(model, folder, extra))


def write_fixtures(model: Path, folder: Path, extra: list[CaseText]) -> str:
    """Make and write the golden cases of a model file; say what was written."""
    try:
        from polybake.fixtures.golden import cases_for, make_fixture
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f'fixtures need the package {error.name}; pip install "polybake[bake,cpu]"'
        ) from error
    from polybake.modelfile.fixture_folder import write_fixture

    fixture = make_fixture(model, cases_for(model, extra))
    write_fixture(fixture, folder)
    texts = sum(len(case.texts) for case in fixture.cases)
    return f"wrote {folder} ({len(fixture.cases)} cases, {texts} texts, {fixture.made_by.kind})"
