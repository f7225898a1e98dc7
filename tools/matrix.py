"""Judge clients in other versions of their packages, a row of Markdown each.

``python tools/matrix.py FOLDER MODEL…`` takes the rows of bench/matrix.toml, and
``--row python,onnxruntime==1.24.3`` one in their place. A version may lie outside the range that a
client asks for, since that range is what a matrix is to find. Rows are printed as they end; the
exit code is 1 where one fails. In Python a row needs 270 MB in FOLDER, in Node 380 to 480 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
ROWS = REPOSITORY / "bench" / "matrix.toml"
BIN, NPM = ("Scripts", "npm.cmd") if os.name == "nt" else ("bin", "npm")
#: What puts packages into a prepared client.
INSTALL = {
    "python": (f".venv/{BIN}/python", "-m", "pip", "install", "--quiet", "--upgrade"),
    # Scripts of older versions download CUDA.
    "node": (NPM, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"),
}


def rows() -> Iterator[tuple[str, str]]:
    """The languages and packages of bench/matrix.toml."""
    for language, packages in tomllib.loads(ROWS.read_text("utf-8")).items():
        yield from ((language, package) for package in packages)


def prepared(language: str, package: str, folder: Path) -> Path | None:
    """A fresh copy of a client with this package; None where it cannot be installed."""
    clients = folder / f"{language}-{package.replace('==', '-').replace('@', '-')}"
    shutil.rmtree(clients, ignore_errors=True)
    copy = clients / language
    made = shutil.ignore_patterns(".venv", "node_modules")
    shutil.copytree(REPOSITORY / "clients" / language, copy, ignore=made)
    python = [sys.executable, "-m", "venv", ".venv"]
    own = {
        "python": [python, [*INSTALL["python"], ".[cpu]"]],
        "node": [[NPM, "install", "--silent"]],
    }
    for command in (*own[language], [*INSTALL[language], package]):
        if subprocess.run(command, cwd=copy).returncode:  # noqa: S603 - our own
            return None
    return clients


def judged(model: str, clients: Path, language: str) -> tuple[dict[str, Any], str]:
    """What the client says of its versions, and its verdict on a model."""
    command = [sys.executable, "-m", "polybake.cli.main", "verify", model, "--json"]
    command += ["--clients", str(clients), "--language", language]
    # The folder holds no other language, so no other can be required.
    only = os.environ | {"POLYBAKE_REQUIRE": language}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=only)  # noqa: S603 - our own
    report = json.loads(done.stdout)
    statuses = {one["status"] for one in report["verdicts"]} - {"pass", "skip-capability"}
    differences = [one["difference"] for one in report["verdicts"] if one["difference"] is not None]
    versions = report["runs"][0]["versions"] or {}
    if report["exit_code"]:
        return versions, " ".join(["FAIL", *sorted(statuses)])
    return versions, f"PASS {max(differences):.1e}"


def show(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(given: Sequence[str]) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", action="append", type=lambda row: tuple(row.split(",")))
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="+")
    asked = parser.parse_args(given)
    titles = ["client", "runtime", "tokenizer", *(Path(one).stem for one in asked.models)]
    show(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    failed = False
    for language, package in asked.row or rows():
        clients = prepared(language, package, asked.folder)
        if clients is None:
            cells = [language, package, "", *["SKIP not installed" for _ in asked.models]]
        else:
            found = [judged(model, clients, language) for model in asked.models]
            said = found[0][0]
            name = f"{language} {said.get('language_version', '')}"
            versions = [said.get(f"{part}_version", package) for part in ("runtime", "tokenizer")]
            cells = [name, *versions, *(word for _, word in found)]
        failed = failed or not all(one.startswith("PASS") for one in cells[3:])
        show(f"| {' | '.join(cells)} |")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
