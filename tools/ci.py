"""Run the sessions of .ci/sessions.toml that must pass before a change lands.

``python tools/ci.py`` runs those of every change, and those weekly ones of which a subject has
changed since they last passed. ``POLYBAKE_CI=all`` runs all of them. Names choose among those that
are to run: ``python tools/ci.py oracle``.

A weekly session that passes is written to .ci/passed.toml with the digest of its subjects, to be
committed: a clone has no other way to know what a change touches.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "POLYBAKE_CI"
SESSIONS = Path(".ci") / "sessions.toml"
PASSED = Path(".ci") / "passed.toml"
LOGS = Path("build") / "ci"

#: The line that a run of pytest ends with.
_SUMMARY = re.compile(r"^=+ .*\b(?:passed|failed|skipped|errors?)\b.* in .*=+$", re.MULTILINE)


@dataclass(frozen=True)
class Session:
    """A session of the table.

    Attributes:
        name: The session's name in noxfile.py.
        seconds: What it may take.
        subjects: What it is about, files or folders; empty where it runs at every change.
        needs: Sessions whose files it takes.
    """

    name: str
    seconds: int
    subjects: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def log(self) -> Path:
        """Where what it prints is kept."""
        return LOGS / f"{self.name}.log"


def read_sessions(folder: Path) -> list[Session]:
    """The table of a checkout, in its order."""
    table = tomllib.loads((folder / SESSIONS).read_text("utf-8"))
    every = [Session(name, seconds) for name, seconds in table["every_change"].items()]
    weekly = (
        Session(name, one["seconds"], tuple(one["subjects"]), tuple(one.get("needs", ())))
        for name, one in table["weekly"].items()
    )
    return [*every, *weekly]


def digest(folder: Path, subjects: Sequence[str]) -> str:
    """The SHA-256 of the names and the bytes of what git knows of these subjects.

    Raises:
        SystemExit: git knows no file of a subject.
    """
    found = hashlib.sha256()
    for subject in subjects:
        command = ["git", "ls-files", "-z", "--", subject]
        listed = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True)  # noqa: S603
        names = sorted(filter(None, listed.stdout.decode().split("\0")))
        if not names:
            raise SystemExit(f"{SESSIONS}: {subject!r} is no file or folder of the repository")
        for name in names:
            content = (folder / name).read_bytes()
            found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()


def read_passed(folder: Path) -> dict[str, str]:
    """The digest of the subjects with which each session last passed."""
    path = folder / PASSED
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def write_passed(folder: Path, name: str, subjects: str) -> None:
    """Record that a session has passed with subjects of this digest."""
    passed = read_passed(folder) | {name: subjects}
    lines = [f'"{name}" = "{one}"\n' for name, one in sorted(passed.items())]
    head = "# Written by .ci/run: the SHA-256 of a session's subjects when it last passed.\n"
    (folder / PASSED).write_text("".join([head, *lines]), encoding="utf-8")


def due(folder: Path, sessions: Iterable[Session]) -> list[Session]:
    """Those of every change, and those whose subjects are not as they were when they passed."""
    passed = read_passed(folder)
    return [
        one
        for one in sessions
        if not one.subjects or passed.get(one.name) != digest(folder, one.subjects)
    ]


def with_needs(sessions: Sequence[Session], chosen: Iterable[Session]) -> list[Session]:
    """The chosen sessions and all that these need, in the order of the table."""
    names = {one.name for one in chosen}
    for one in reversed(sessions):
        if one.name in names:
            names.update(one.needs)
    return [one for one in sessions if one.name in names]


def run_nox(session: Session) -> int:
    """Run a session; print and keep what it prints. Returns its exit code."""
    session.log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "nox", "--session", session.name]
    with (
        session.log.open("w", encoding="utf-8") as log,
        subprocess.Popen(  # noqa: S603 - our own table
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process,
    ):
        assert process.stdout  # noqa: S101 - a pipe was asked for
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            log.write(line)
    return process.returncode


def remove_environment(session: Session) -> None:
    """Remove the environment that only this session has: all of them together fill a disk.

    PyTorch and what it brings also leave the cache of packages.
    """
    environment = Path(".nox") / session.name
    installed = [one.name.partition("-")[0] for one in environment.rglob("*.dist-info")]
    if session.name == "oracle" and shutil.which("uv"):
        large = [one for one in installed if one.startswith(("torch", "triton", "nvidia"))]
        subprocess.run(["uv", "cache", "clean", *large], check=True)  # noqa: S603, S607
    shutil.rmtree(environment, ignore_errors=True)


def run(
    folder: Path, sessions: Sequence[Session], start: Callable[[Session], int] = run_nox
) -> bool:
    """Run sessions in turn until one fails, and say what each took. Returns whether all passed."""
    report = ["", f"{'session':<16} {'budget':>7} {'took':>7}"]
    passed = True
    for number, session in enumerate(sessions):
        # Who edits a file while the session runs has not seen it pass.
        subjects = digest(folder, session.subjects)
        began = time.monotonic()
        passed = start(session) == 0
        took = time.monotonic() - began
        said = "failed" if not passed else "over its budget" if took > session.seconds else ""
        report.append(f"{session.name:<16} {session.seconds:>5} s {took:>5.0f} s  {said}".rstrip())
        if not passed:
            report += [f"{one.name:<16} did not run" for one in sessions[number + 1 :]]
            break
        if session.subjects:
            write_passed(folder, session.name, subjects)
        remove_environment(session)
    sys.stdout.write("\n".join(report) + "\n")
    return passed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="ci", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these, as far as they are to run")
    names = parser.parse_args(arguments).names
    folder = Path.cwd()
    every = read_sessions(folder)
    known = {one.name: one for one in every}
    for name in names:
        if name not in known:
            choices = ", ".join(known)
            raise SystemExit(f"{name!r} is no session of {SESSIONS}; choose among: {choices}")
    wanted = every if os.environ.get(VARIABLE) == "all" else due(folder, every)
    chosen = with_needs(every, [one for one in wanted if not names or one.name in names])
    for one in every:
        if one not in (*wanted, *chosen):
            sys.stdout.write(f"{one.name}: its subjects are as they were when it last passed\n")
    passed = run(folder, chosen)
    sys.stdout.write("The test runs above ended with:\n")
    for one in chosen:
        if one.log.exists():
            for line in _SUMMARY.findall(one.log.read_text("utf-8")):
                sys.stdout.write(f"{line}\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
