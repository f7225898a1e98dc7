"""``polybake build``: bake, fixtures and clients in one go."""

from pathlib import Path
from typing import Annotated

import typer

from polybake.cli.bake import baked, readable
from polybake.cli.fixtures import write_fixtures
from polybake.cli.generate import clients_of, written
from polybake.cli.progress import stages
from polybake.cli.target import (
    DEFAULT_CONFIG,
    ConfigOrSource,
    NameOption,
    OutputOption,
    PrecisionOption,
    SetOption,
    config_for,
)


def build(
    target: ConfigOrSource = DEFAULT_CONFIG,
    name: NameOption = None,
    output: OutputOption = None,
    precision: PrecisionOption = None,
    setting: SetOption = None,
    clients: Annotated[
        Path | None, typer.Option(help="Put each client in a folder of its language below this.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that were changed by hand.")
    ] = False,
) -> None:
    """Bake a model, write its fixtures, and generate its clients.

    Example: polybake build polybake.toml
    """
    from polybake.base.files.inputs import Digests, noting_inputs
    from polybake.fitted_steps import fit_steps
    from polybake.generation.generate import generate
    from polybake.lock import CACHE, lock_of, write_lock

    config = config_for(target, setting, name=name, output=output, precision=precision)
    with noting_inputs() as stamps:
        with stages() as progress:
            ready = fit_steps(config, progress)
        report = baked(ready)
        typer.echo(readable(report))
        typer.echo(write_fixtures(report.path, config.fixtures_folder, config.fixtures.texts))
    typer.echo(written(generate(report.manifest, clients_of(target, clients), force=force)))
    if target.suffix == ".toml":
        digests = Digests(config.folder / CACHE)
        lock = target.with_suffix(".lock")
        write_lock(lock_of(config, report.manifest, stamps, digests), lock)
        digests.keep()
        typer.echo(f"{lock}: what the model was made of; commit it")
