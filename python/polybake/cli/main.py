"""The command line: one command per verb, each in its own file beside this one."""

import io
import signal
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from polybake import __version__
from polybake.cli.bake import bake
from polybake.cli.bench import bench
from polybake.cli.build import build
from polybake.cli.card import card
from polybake.cli.check import check
from polybake.cli.diagnose import diagnose
from polybake.cli.diff import diff
from polybake.cli.embed import embed
from polybake.cli.export import export
from polybake.cli.fit import fit
from polybake.cli.fixtures import fixtures
from polybake.cli.generate import generate
from polybake.cli.init import init
from polybake.cli.inspect import inspect
from polybake.cli.pull import pull
from polybake.cli.push import push
from polybake.cli.serve import serve
from polybake.cli.verify import verify
from polybake.errors import InputError, PolybakeError, missing_package

app = typer.Typer(
    help="One model file, every language, the same vectors.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
#: The signals by which a person or a system ends a run.
_ENDINGS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]

#: The commands as ``--help`` groups them, in the order in which a project needs them.
_GROUPS: dict[str, tuple[Callable[..., None], ...]] = {
    "Build": (init, build, bake, fit, fixtures, generate),
    "Check": (check, verify, diagnose, diff, inspect, bench),
    "Use": (embed, serve),
    "Ship": (push, pull, export, card),
}
for _group, _commands in _GROUPS.items():
    for _command in _commands:
        app.command(rich_help_panel=_group)(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"polybake {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """One model file, every language, the same vectors."""


def main() -> None:
    """Run the command line; docs/protocol.md lists the exit codes."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # that of Windows cannot show every character
        sys.stdout.reconfigure(errors="backslashreplace")
    codes: list[int] = []

    def end(number: int, _: object) -> None:
        codes.append(128 + number)
        raise SystemExit(codes[0])  # through every block that removes temporary files

    for number in _ENDINGS:
        signal.signal(number, end)
    try:
        app()
    except Exception as error:  # an interrupted import raises other exceptions
        sys.exit(codes[0] if codes else _report(error))
    finally:
        for number in _ENDINGS:  # only cleaning up is left
            signal.signal(number, signal.SIG_IGN)


def _report(error: Exception) -> int:
    """Print what is wrong and how to mend it; return the exit code."""
    cause = missing_package(error) or error
    if isinstance(cause, PolybakeError):
        typer.echo(f"polybake: {cause}", err=True)
        return cause.exit_code
    if isinstance(error, OSError):
        typer.echo(f"polybake: {_refused_by_system(error)}", err=True)
        return InputError.exit_code
    _report_internal(error)
    return 4


def _refused_by_system(error: OSError) -> str:
    """Return ``FILE: REASON; remedy``, without the file if the system names none."""
    reason = " ".join((error.strerror or str(error)).split())
    file = "" if error.filename is None else f"{error.filename}: "
    return f"{file}{reason}; check that it exists, that you may use it, and that its disk has room"


def _report_internal(error: Exception) -> None:
    import platform
    import traceback

    typer.echo("".join(traceback.format_exception(error)), err=True)
    typer.echo(
        f"polybake: internal error: {type(error).__name__}: {error}; report it with the lines "
        f"above, polybake {__version__}, Python {platform.python_version()}, {platform.platform()}",
        err=True,
    )


if __name__ == "__main__":
    main()
