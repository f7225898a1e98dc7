"""``polybake fixtures``: golden cases of a model file as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from polybake.cli.target import DEFAULT_CONFIG, ConfigOrModel


def fixtures(
    target: ConfigOrModel = DEFAULT_CONFIG,
    output: Annotated[Path | None, typer.Option(help="The folder to write.")] = None,
) -> None:
    """Write golden cases: the built-in texts and your own, with the vectors they must give.

    Example: polybake fixtures polybake.toml
    """
    from polybake.base.modelfile.container import read_head
    from polybake.config import load_config

    texts: Sequence[Path] = ()
    model, folder = target, output
    if target.suffix == ".toml":
        config = load_config(target)
        texts, model = config.fixtures.texts, config.model.output
        folder = output or config.fixtures_folder
    folder = folder or Path("fixtures") / read_head(model).manifest.name
    typer.echo(write_fixtures(model, folder, texts))


def write_fixtures(model: Path, folder: Path, texts: Sequence[Path]) -> str:
    """Write the golden cases of a model file and of text files; return what was written."""
    from polybake.baking.golden.golden import cases_for, make_fixture
    from polybake.baking.golden.texts import read_texts, user_cases
    from polybake.base.modelfile.fixture_folder import write_fixture

    fixture = make_fixture(model, cases_for(model, user_cases(read_texts(texts))))
    write_fixture(fixture, folder)
    count = sum(len(case.texts) for case in fixture.cases)
    return f"wrote {folder} ({len(fixture.cases)} cases, {count} texts, {fixture.made_by.kind})"
