"""``polybake matrix``: does a client give the same vectors in every environment?"""

from pathlib import Path
from typing import Annotated

import typer

from polybake.cli.target import DEFAULT_CONFIG, JsonOption


def matrix(
    config: Annotated[
        Path,
        typer.Argument(metavar="[CONFIG]", help="A polybake.toml with tables of verify.matrix."),
    ] = DEFAULT_CONFIG,
    model: Annotated[
        list[Path] | None,
        typer.Option(help="A model file, a column each; may be repeated. Else the one of CONFIG."),
    ] = None,
    clients: Annotated[
        Path | None, typer.Option(help="The folder that holds the clients' folders.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where environments are kept; else build/matrix beside the config."),
    ] = None,
    require: Annotated[
        list[str] | None, typer.Option(help="A language or device that must not be skipped.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="For each answer; 30 times that if emulated.")
    ] = 60.0,
    as_json: JsonOption = False,
    markdown: Annotated[
        Path | None, typer.Option(help="Also write the table as Markdown to this file.")
    ] = None,
) -> None:
    """Judge clients in other versions, with other threads, on other devices and processors.

    Example: polybake matrix polybake.toml --markdown build/matrix.md
    """
    from rich.console import Console

    from polybake.base.files.atomic import replacing
    from polybake.base.modelfile.fixture_folder import read_fixture
    from polybake.cli.progress import stages
    from polybake.config import load_config
    from polybake.errors import InputError
    from polybake.verification.matrix.matrix import run_matrix
    from polybake.verification.matrix.report_json import matrix_json
    from polybake.verification.matrix.report_markdown import matrix_markdown
    from polybake.verification.matrix.report_table import print_matrix
    from polybake.verification.verify import chosen_clients

    settings = load_config(config)
    if not settings.verify.matrix:
        raise InputError(f"{config}: has no [[verify.matrix]]; add one, see docs/matrix.md")
    chosen = [clients] if clients else [one for one in settings.client_folders if one.is_dir()]
    own = settings.golden_folder
    with stages() as progress:
        report = run_matrix(
            model or [settings.model.output],
            chosen_clients(chosen, (), ()),
            settings.verify.matrix,
            folder or settings.folder / "build" / "matrix",
            fixture=read_fixture(own) if own and not model else None,
            require=[*(require or ()), *settings.verify.require],
            timeout=timeout,
            progress=progress,
        )
    if markdown is not None:
        with replacing(markdown) as file:
            file.write(matrix_markdown(report).encode("utf-8"))
    if as_json:
        typer.echo(matrix_json(report), nl=False)
    else:
        print_matrix(report, Console())
    raise typer.Exit(report.exit_code())
