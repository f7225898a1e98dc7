"""Clients of npm, for Node and for the browser: their packages, checkers and own tests."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from polybake.verification.harness.harness_file import read_client
from support.clients.rendered import attempt, run, write

#: A fixture that writes the client of a model, with changes as `write` takes them.
Another = Callable[..., Path]


def with_packages_of(client: Path, folder: Path) -> Path:
    (folder / "node_modules").symlink_to(client / "node_modules")
    return folder


@pytest.fixture
def another(client: Path, tmp_path: Path) -> Another:
    """Writes the client of a model, in the language of a room's `client` and with its packages."""
    language = read_client(client).language
    written = partial(write, language, tmp_path / "client")
    return lambda *model, **changes: with_packages_of(client, written(*model, **changes))


def check_clean(folder: Path, *, types: bool = False) -> None:
    """Biome has nothing to change or to say, and has seen every file; nor has TypeScript."""
    printed = run("npm", "run", "lint", "--", "--colors=off", cwd=folder)
    checked = re.search(r"Checked (\d+) files in \S+ No fixes applied", printed)
    assert checked, printed
    written = [*folder.rglob("*.js"), *folder.rglob("*.ts"), *folder.glob("*.json")]
    assert int(checked[1]) >= len([file for file in written if "node_modules" not in file.parts])
    if types:
        check_types(folder)


def check_types(folder: Path) -> None:
    """TypeScript has nothing to say."""
    run("npm", "run", "types", cwd=folder)


def own_tests(folder: Path, model: Path, *names: str) -> tuple[int, set[str]]:
    """Run the client's tests, or those of these names: how many passed, and which failed."""
    command = ["npm", "test"]
    if names and (folder / "tests/run.js").exists():  # in a page
        command = ["node", "tests/run.js", *(f"{name}.test.js" for name in names)]
    elif names:
        command = ["node", "--test", *(f"tests/{name}.test.js" for name in names)]
    done = attempt(*command, cwd=folder, POLYBAKE_MODEL=str(model))
    passed = re.search(r"^\S+ pass (\d+)$", done.stdout, re.MULTILINE)
    failed = set(re.findall(r"^(?:not ok(?: \d+)? -|✖) (.*)$", done.stdout, re.MULTILINE))
    assert passed, done.stdout + done.stderr
    assert (done.returncode == 0) is (not failed), done.stdout + done.stderr
    return int(passed[1]), failed
