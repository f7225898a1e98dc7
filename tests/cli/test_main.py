"""The command line: its help, its exit codes, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich import markup
from typer.main import get_command

from polybake import __version__
from polybake.cli import main as cli
from support.processes.commandline import run
from support.processes.signals import signals
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow


def test_help_lists_every_command_with_an_example() -> None:
    """Each verb says in a line what it does, and its help shows a call; its file has its name."""
    listed = run("--help").stdout
    functions = [one.callback for one in cli.app.registered_commands if one.callback]
    assert len(functions) > 10
    for function in functions:
        verb = function.__name__
        assert function.__module__ == f"polybake.cli.{verb}"
        assert verb in listed
        assert f"Example: polybake {verb}" in run(verb, "--help").stdout
    groups = [one.rich_help_panel for one in cli.app.registered_commands]
    assert all(f" {group} ─" in listed for group in groups)
    assert max(map(groups.count, groups)) < 8


def test_help_loses_no_word() -> None:
    """What stands in square brackets is a style to those who print help, and not shown."""
    commands = get_command(cli.app).commands.values()  # type: ignore[attr-defined]
    texts = [one.help for one in commands]
    texts += [one.help for command in commands for one in command.params if hasattr(one, "help")]
    assert len(texts) > 100
    for text in filter(None, texts):
        assert markup.render(text).plain == text


def test_version() -> None:
    """--version prints the version of the package."""
    assert run("--version").stdout == f"polybake {__version__}\n"


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (PermissionError(13, "Permission denied", "a/b"), 2, "a/b: Permission denied; check that"),
        (OSError(28, "No space left on device"), 2, "polybake: No space left on device; check"),
        (OSError("wrote 3\nof 4 bytes"), 2, "polybake: wrote 3 of 4 bytes; check that"),
        (ZeroDivisionError("by zero"), 4, "internal error: ZeroDivisionError: by zero; report it"),
    ],
)
def test_what_nothing_foresaw(
    error: Exception, code: int, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system refuses is one line; anything else is to be reported with the versions."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(cli, "app", fail)
    done = run()
    assert done.returncode == code
    assert shown in done.stderr
    assert (len(done.stderr.splitlines()) == 1) == (code == 2)
    assert (f"polybake {__version__}" in done.stderr) == (code == 4)


@pytest.mark.parametrize(
    ("ending", "file"),
    weekly_but(
        1,
        signals(
            ("SIGINT", "scratch/*"),
            ("SIGTERM", "scratch/*/encoder.onnx"),
            ("SIGHUP", ".out.onnx.*.tmp"),
        ),
    ),
)
def test_an_ended_run_leaves_nothing(minilm: Path, tmp_path: Path, ending: str, file: str) -> None:
    """No temporary file stays, whichever was there, and the exit code is the signal's."""
    number = getattr(signal, ending)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [
        "-m",
        "polybake.cli.main",
        "bake",
        minilm,
        "--name",
        "minilm",
        "--output",
        "out.onnx",
    ]
    process = subprocess.Popen(
        # faulthandler says where, if native code does not bear to be interrupted
        [sys.executable, "-X", "faulthandler", *command],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) and None,
    )
    while process.poll() is None and not any(tmp_path.glob(file)):
        time.sleep(0.005)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    assert "internal error" not in errors
    assert [*scratch.iterdir()] == []
    assert {path.name for path in tmp_path.iterdir()} <= {"scratch", "out.onnx"}


def test_completion_can_be_installed() -> None:
    """Shell completion works for the shells that click supports."""
    assert "complete" in run("--show-completion", "bash").stdout


def test_a_command_begins_without_what_others_import() -> None:
    """Templates alone would take longer than all of what every command needs."""
    code = "import sys, polybake.cli.main; sys.exit(bool({'jinja2', 'onnx'} & {*sys.modules}))"
    subprocess.run([sys.executable, "-c", code], check=True)
