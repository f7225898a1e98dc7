"""harness.json: where clients are found, and what they need before their harness runs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.verification.harness.harness_file import (
    Client,
    find_clients,
    foreign_client,
    read_client,
)
from polybake.verification.harness.process import check_programs, run_prepare
from polybake.verification.verdict import HarnessError, Status

VALID = {
    "language": "ruby",
    "requires": ["ruby", "bundle"],
    "prepare": [["bundle", "install"], ["{python}", "-V"]],
    "run": ["{python}", ".venv/{bin}/x"],
    "environment": {"A": "b"},
}


def write_harness(folder: Path, **changes: object) -> Path:
    """A folder with a harness.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "harness.json").write_text(json.dumps(VALID | changes))
    return folder


def test_client_is_read(tmp_path: Path) -> None:
    """Every key arrives, the folder is absolute, and what is in braces is what is here."""
    client = read_client(write_harness(tmp_path / "ruby"))
    assert client.language == "ruby"
    assert client.folder == tmp_path / "ruby"
    assert client.requires == ("ruby", "bundle")
    assert client.prepare == (("bundle", "install"), (sys.executable, "-V"))
    assert client.run == (sys.executable, f".venv/{'Scripts' if os.name == 'nt' else 'bin'}/x")
    assert client.full_environment()["A"] == "b"
    assert "PATH" in client.full_environment()


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("0", "0")])
def test_no_client_sends_telemetry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, expected: str
) -> None:
    """ONNX Runtime's is off in every command of a client, unless the user wants it."""
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    if given:
        monkeypatch.setenv("ORT_DISABLE_TELEMETRY", given)
    environment = read_client(write_harness(tmp_path / "ruby")).full_environment()
    assert environment["ORT_DISABLE_TELEMETRY"] == expected


def test_clients_are_found_by_name(tmp_path: Path) -> None:
    """The folders with a harness.json are clients, by name; a client's own may be given, too."""
    with pytest.raises(InputError, match="polybake generate"):
        find_clients(tmp_path)
    for language in ("ruby", "node", "python"):
        write_harness(tmp_path / language, language=language)
    (tmp_path / "notes").mkdir()
    assert [client.language for client in find_clients(tmp_path)] == ["node", "python", "ruby"]
    assert [client.language for client in find_clients(tmp_path / "ruby")] == ["ruby"]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"language": "C#"}, "language"),
        ({"run": []}, "run"),
        ({"run": "ruby harness.rb"}, "run"),
        ({"prepare": [["a"], []]}, r"prepare\[1\]"),
        ({"environment": {"A": 1}}, r"environment\.A"),
        ({"comand": "x"}, "comand"),
    ],
)
def test_wrong_key_is_named(tmp_path: Path, changes: dict[str, object], key: str) -> None:
    """A key that is wrong or unknown is named with the file."""
    folder = write_harness(tmp_path / "ruby", **changes)
    with pytest.raises(InputError, match=rf"ruby/harness\.json: {key}: "):
        read_client(folder)


def test_damaged_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_client(tmp_path)
    (tmp_path / "harness.json").write_text("{")
    with pytest.raises(InputError, match="Invalid JSON"):
        read_client(tmp_path)


def test_foreign_client_is_split_as_by_a_shell() -> None:
    """A command with quotes becomes words, runs here, and is foreign."""
    client = foreign_client(f"'{sys.executable}' -c 'print(1)'")
    assert client.run == (sys.executable, "-c", "print(1)")
    assert client.folder == Path.cwd()
    assert client.foreign


def test_a_backslash_is_part_of_a_path_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell takes a backslash away, and with it the folders of a Windows path."""
    monkeypatch.setattr(shutil, "which", lambda name: name)
    command = '"C:\\a folder\\h.exe" --model C:\\m.onnx'
    assert foreign_client(command.replace("\\", "\\\\")).run[2] == "C:\\m.onnx"
    monkeypatch.setattr(sys, "platform", "win32")
    assert foreign_client(command).run == ("C:\\a folder\\h.exe", "--model", "C:\\m.onnx")


@pytest.mark.parametrize("command", ["", "'", "no-such-program --flag"])
def test_impossible_command_is_an_error(command: str) -> None:
    """A command that cannot be run is refused before anything starts."""
    with pytest.raises(InputError, match="harness"):
        foreign_client(command)


def test_a_device_may_have_its_own_commands(tmp_path: Path) -> None:
    """Keys set for cuda replace the general ones, and the others stay."""
    cuda = {"prepare": [["install", "gpu"]], "environment": {"KIND": "gpu"}}
    client = read_client(write_harness(tmp_path, run=["{python}", "harness.py"], cuda=cuda))
    assert client.on("cpu") == client
    on_cuda = client.on("cuda")
    assert on_cuda.prepare == (("install", "gpu"),)
    assert on_cuda.run == (sys.executable, "harness.py")
    assert on_cuda.environment == {"KIND": "gpu"}


def python(script: str) -> tuple[str, ...]:
    """A command that runs a line of Python."""
    return (sys.executable, "-S", "-c", script)


def tiny(folder: Path, **fields) -> Client:
    """A client that is never started."""
    return Client(language="tiny", folder=folder, run=("x",), **fields)


def test_missing_programs_are_named(tmp_path: Path) -> None:
    """Every program that is not on the client's own PATH is named, and only those."""
    check_programs(tiny(tmp_path, requires=(sys.executable,)))
    client = tiny(tmp_path, requires=("no-such-a", sys.executable, "no-such-b"))
    with pytest.raises(HarnessError, match="not on PATH: no-such-a, no-such-b;") as caught:
        check_programs(client)
    assert caught.value.status is Status.MISSING_TOOLCHAIN
    name = Path(sys.executable).name
    folder = {"PATH": str(Path(sys.executable).parent)}
    check_programs(tiny(tmp_path, requires=(name,), environment=folder))
    with pytest.raises(HarnessError, match=f"not on PATH: {name};"):
        check_programs(tiny(tmp_path, requires=(name,), environment={"PATH": str(tmp_path)}))


def test_prepare_runs_in_order_in_the_folder(tmp_path: Path) -> None:
    """Each command sees what the one before it left in the client's folder."""
    client = tiny(
        tmp_path,
        prepare=(
            python("open('a', 'w').write('1')"),
            python("import os; os.rename('a', os.environ['TARGET'])"),
        ),
        environment={"TARGET": "b"},
    )
    run_prepare(client, 60)
    assert (tmp_path / "b").read_text() == "1"


def test_failed_prepare_shows_its_output(tmp_path: Path) -> None:
    """A command that fails ends the preparation, with its exit code and last lines."""
    client = tiny(
        tmp_path,
        prepare=(python("print('no network'); raise SystemExit(5)"), python("open('b', 'w')")),
    )
    with pytest.raises(HarnessError, match="exit code 5: no network") as caught:
        run_prepare(client, 60)
    assert caught.value.status is Status.ERROR
    assert not (tmp_path / "b").exists()


def test_slow_prepare_is_ended(tmp_path: Path) -> None:
    """A command that does not end in time is a time-out."""
    client = tiny(tmp_path, prepare=(python("import time; time.sleep(600)"),))
    with pytest.raises(HarnessError, match=r"not done in 0\.2 s") as caught:
        run_prepare(client, 0.2)
    assert caught.value.status is Status.TIMEOUT
