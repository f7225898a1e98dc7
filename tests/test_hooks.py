""".pre-commit-hooks.yaml: what pre-commit makes of it in a repository of somebody else's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import polybake
from faulty.subject import SubjectFiles

pytest.importorskip("pre_commit", reason="installs packages: nox -s exchange")

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[1]

#: What pip needs of this repository, and what pre-commit does.
PARTS = [".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE", "python", "templates"]


CONFIG = """\
repos:
  - repo: {repository}
    rev: {commit}
    hooks:
      - id: polybake-generate
"""


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints."""
    person = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    command = ["git", *person, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit_all(folder: Path) -> str:
    """The commit of all files of a new repository."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--message", "all")
    return git(folder, "rev-parse", "HEAD")


def pre_commit(folder: Path, home: Path, *arguments: str) -> tuple[int, str]:
    """The exit code of pre-commit, and what it prints; it installs below a home of its own."""
    environment = os.environ | {"PRE_COMMIT_HOME": str(home)}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-m", "pre_commit", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """This checkout as a repository that hooks are taken from."""
    folder = tmp_path / "published"
    for part in PARTS:
        (folder / part).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        copy(REPOSITORY / part, folder / part)
    return folder


@pytest.fixture
def project(subject: SubjectFiles, published: Path, tmp_path: Path) -> Path:
    """A user's repository: polybake.toml, whose model is elsewhere, and the client of Ruby."""
    folder = tmp_path / "project"
    polybake.generate(subject.model, folder / "clients", languages=["ruby"])
    (folder / "polybake.toml").write_text(
        f'[model]\nname = "tiny-model"\nsource = "none"\noutput = "{subject.model}"\n'
        "[clients.ruby]\n"
    )
    config = CONFIG.format(repository=published, commit=commit_all(published))
    (folder / ".pre-commit-config.yaml").write_text(config)
    commit_all(folder)
    return folder


def test_pre_commit_takes_the_file(published: Path, tmp_path: Path) -> None:
    """Keys that it does not know are a warning, which is an error here."""
    code, printed = pre_commit(published, tmp_path / "home", "validate-manifest", PARTS[0])
    assert (code, printed) == (0, "")


def test_a_stale_client_stops_a_commit(project: Path, tmp_path: Path) -> None:
    """A fresh one passes, also with an edit; a stale one is named with the remedy."""
    home = tmp_path / "home"
    code, printed = pre_commit(project, home, "run")
    assert (code, "generated clients are fresh" in printed) == (0, True), printed
    (edited,) = (project / "clients/ruby/lib").glob("*.rb")
    edited.write_text("# by hand\n")
    git(project, "add", "--all")
    code, printed = pre_commit(project, home, "run")
    assert (code, "generated clients are fresh" in printed) == (0, True), printed
    edited.unlink()
    git(project, "add", "--all")
    code, printed = pre_commit(project, home, "run")
    assert (code, edited.name in printed, "polybake generate" in printed) == (1, True, True)
