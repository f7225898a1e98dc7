"""The command line: every wrong input is one line with the remedy, and the right exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich import markup
from typer.main import get_command

from models.folders.tiny_folders import write_bert
from polybake import __version__
from polybake.cli import main as cli
from polybake.errors import InputError
from support.processes.commandline import run

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def same_signals() -> Iterator[None]:
    """Put back the signal handlers that the command line replaces."""
    taken = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in taken]
    yield
    for number, handler in zip(taken, before, strict=True):
        signal.signal(number, handler)


def test_help_lists_every_command_with_an_example() -> None:
    """Each verb says in a line what it does, and its help shows a call; its file has its name."""
    listed = run("--help").stdout
    functions = [one.callback for one in cli.app.registered_commands if one.callback]
    assert len(functions) >= 18
    for function in functions:
        verb = function.__name__
        assert function.__module__ == f"polybake.cli.{verb}"
        assert verb in listed
        assert f"Example: polybake {verb}" in run(verb, "--help").stdout


def test_help_loses_no_word() -> None:
    """What stands in square brackets is a style to those who print help, and not shown."""
    commands = get_command(cli.app).commands.values()  # type: ignore[attr-defined]
    texts = [one.help for one in commands]
    texts += [one.help for command in commands for one in command.params if hasattr(one, "help")]
    assert len(texts) > 100
    for text in filter(None, texts):
        assert markup.render(text).plain == text


def test_a_new_verb_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A toy verb is listed, runs, and its errors are told as those of every verb."""
    monkeypatch.setattr(cli.app, "registered_commands", [*cli.app.registered_commands])

    @cli.app.command()
    def toy(path: Path) -> None:
        """Play with a file."""
        if not path.exists():
            raise InputError(f"{path}: is missing; give a toy")
        print(path.name)  # noqa: T201

    for given, code, told in ((tmp_path, 0, tmp_path.name), ("none", 2, "none: is missing; give")):
        monkeypatch.setattr(sys, "argv", ["polybake", "toy", str(given)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert (ended.value.code or 0) == code
        printed = capsys.readouterr()
        assert told in printed.out + printed.err


def test_version() -> None:
    """--version prints the version of the package."""
    assert run("--version").stdout == f"polybake {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bake", "no/such/folder"], "no/such/folder: no such file or folder; give a polybake"),
        (["bake"], "polybake.toml: cannot be read (No such file or directory); write one with"),
        (["init", "no/such"], "no/such"),
        (["inspect", "no.onnx"], "no.onnx"),
        (["check", "no.onnx"], "no.onnx: cannot be read (No such file or directory); give the"),
        (["generate", "no.onnx"], "no.onnx: cannot be read"),
        (["generate", "no.json"], "no.json: cannot be read"),
        (["verify", "no.onnx"], "no.onnx: cannot be read"),
        (["fixtures", "no.onnx"], "no.onnx: cannot be read"),
        (["fit", "no.onnx", "no.txt"], "no.onnx: cannot be read"),
        (["embed", "no.onnx", "-", "-o", "out.npy"], "no.onnx: cannot be read"),
        (["embed", "no.onnx", "no.txt", "-o", "out.npy"], "no.txt: cannot be read"),
        (["export", "ort", "no.onnx", "-o", "out.ort"], "no.onnx: cannot be read"),
        (["export", "triton", "no.onnx", "-o", "out"], "no.onnx: cannot be read"),
        (["export", "tflite", "no.onnx", "-o", "out"], "'tflite' is not one of 'triton'"),
        (["card", "no.onnx", "-o", "out"], "no.onnx: cannot be read"),
        (["sign", "no.onnx", "--private-key", "key.pem"], "no.onnx: cannot be read"),
        (["check", "no.onnx", "--signature", "a.sig"], "--public-key belong together; give both"),
        (["nonsense"], "No such command 'nonsense'"),
        (["bake", "--nonsense"], "No such option: --nonsense"),
    ],
)
def test_wrong_input_ends_with_two(tmp_path: Path, arguments: list[str], message: str) -> None:
    """The value and the remedy are named, nothing is written, and there is no traceback."""
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_no_language_can_use(minilm: Path, tmp_path: Path) -> None:
    """A bad --name is refused before anything is read or written."""
    done = run("bake", minilm, "--name", "Über", cwd=tmp_path)
    assert done.returncode == 2
    assert "'Über' cannot become a package name" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (PermissionError(13, "Permission denied", "a/b"), "a/b: Permission denied; check that"),
        (OSError(28, "No space left on device"), "polybake: No space left on device; check that"),
        (OSError("wrote 3\nof 4 bytes"), "polybake: wrote 3 of 4 bytes; check that"),
    ],
)
def test_what_the_system_refuses_ends_with_two(
    error: OSError, shown: str, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """A file that nothing else named is one line with the remedy, and no traceback."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert shown in line


def test_an_internal_error_says_what_to_report(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Anything unforeseen ends with 4, the traceback and the versions."""

    def fail() -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 4
    printed = capsys.readouterr().err
    assert "internal error: ZeroDivisionError: by zero; report it" in printed
    assert f"polybake {__version__}" in printed


@pytest.mark.parametrize("delay", [0.2, 0.6, 1.2, 2.0, 3.0])
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ended_run_leaves_nothing(
    minilm: Path, tmp_path: Path, ending: signal.Signals, delay: float
) -> None:
    """No temporary file stays at whatever moment a run ends, and the exit code is the signal's."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            "-X",
            "faulthandler",  # says where, if native code does not bear to be interrupted
            "-m",
            "polybake.cli.main",
            "bake",
            minilm,
            "--name",
            "minilm",
            "--output",
            "out.onnx",
        ],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(ending, signal.SIG_DFL),
    )
    time.sleep(delay)
    process.send_signal(ending)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 128 + ending, -ending), errors  # done, cleaned up, not begun
    assert "internal error" not in errors
    assert [*scratch.iterdir()] == []
    assert {path.name for path in tmp_path.iterdir()} <= {"scratch", "out.onnx"}


def test_a_huge_file_of_settings_is_refused_at_once(tmp_path: Path) -> None:
    """A dotted key of 200 KB would take minutes."""
    (tmp_path / "polybake.toml").write_text("a." * 100_000 + "a = 1")
    done = run("bake", cwd=tmp_path)
    assert done.returncode == 2
    assert "polybake.toml: has more than 65536 bytes; leave out what" in done.stderr


def test_a_device_is_no_file_of_settings(tmp_path: Path) -> None:
    """A link to a device without an end is refused instead of read for ever."""
    (tmp_path / "polybake.toml").symlink_to("/dev/zero")
    done = run("bake", cwd=tmp_path)
    assert done.returncode == 2
    assert "polybake.toml: has more than 65536 bytes; leave out what" in done.stderr


def test_another_name_writes_another_fixture(tmp_path: Path) -> None:
    """Build --name does not overwrite the golden cases of the name in the file."""
    write_bert(tmp_path / "bert")
    (tmp_path / "polybake.toml").write_text(
        '[model]\nname = "old-name"\nsource = "bert"\noutput = "m.onnx"\n'
        '[[steps]]\nstep = "pool"\nmode = "mean"\n'
    )
    done = run("build", "--name", "new-name", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "fixtures").iterdir()] == ["new-name"]


def test_completion_can_be_installed() -> None:
    """Shell completion works for the shells that click supports."""
    assert "complete" in run("--show-completion", "bash").stdout


def test_a_command_begins_without_what_others_import() -> None:
    """Templates alone would take longer than all of what every command needs."""
    code = "import sys, polybake.cli.main; sys.exit(bool({'jinja2', 'onnx'} & {*sys.modules}))"
    subprocess.run([sys.executable, "-c", code], check=True)
