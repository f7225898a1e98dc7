"""``polybake check``: is a model file whole, made of what is here, and are its clients fresh?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.cli.generate import clients_of
from polybake.cli.generate import fresh as told_fresh
from polybake.cli.target import DEFAULT_CONFIG, ConfigOrModel, JsonOption
from polybake.errors import CheckFailed

if TYPE_CHECKING:
    from polybake.config import Config
    from polybake.lock import Finding


def check(
    target: ConfigOrModel = DEFAULT_CONFIG,
    clients: Annotated[
        Path | None, typer.Option(help="Also check the generated clients below this folder.")
    ] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only this language's client.")] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="What cannot be looked at here is a failure, too.")
    ] = False,
    cache: Annotated[
        bool, typer.Option(help="Trust the digests of files whose size and time are as they were.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Check a model file, and that its inputs, its settings and its clients are what was built.

    Example: polybake check polybake.toml --complete
    """
    from polybake.config import load_config

    config = load_config(target) if target.suffix == ".toml" else None
    model = config.model.output if config else target
    findings: list[Finding] = []
    if config is not None:
        findings += unchanged(config, target.with_suffix(".lock"), cache)
    if config is None or model.is_file():
        findings += whole(model)
    if config is not None or clients is not None:
        findings.append(fresh(target, model, config, clients, language or ()))
    states = {finding.state for finding in findings}
    passed = "changed" not in states and not (complete and "unseen" in states)
    if as_json:
        typer.echo(json.dumps({"passed": passed, "findings": [asdict(item) for item in findings]}))
    else:
        for finding in findings:
            typer.echo(f"{_SAID[finding.state]}{finding.text}")
    if not passed:
        raise typer.Exit(CheckFailed.exit_code)


#: What a line begins with.
_SAID = {"same": "", "changed": "CHANGED: ", "unseen": "not looked at: "}


def unchanged(config: Config, path: Path, cache: bool) -> Iterator[Finding]:
    """Compare what is here with polybake.lock."""
    from polybake.base.files.inputs import Digests
    from polybake.lock import CACHE, Finding, findings, read_lock

    lock = read_lock(path)
    if lock is None:
        yield Finding("unseen", f"{path}: is missing, which says what was built; polybake build")
        return
    digests = Digests(config.folder / CACHE if cache else None)
    yield from findings(config, lock, digests)
    digests.keep()


def whole(model: Path) -> Iterator[Finding]:
    """Check a file's digests, and reproduce its golden cases if the runtime is installed."""
    from polybake.base.modelfile.container import check_digest, read_head
    from polybake.lock import Finding

    head = read_head(model)
    try:
        check_digest(head)
    except CheckFailed as error:
        yield Finding("changed", str(error))
        return
    yield Finding("same", f"whole: {model}, fingerprint {head.manifest.fingerprint}")
    try:
        from polybake.runtime.embedder import Embedder
    except ModuleNotFoundError as error:
        yield Finding("unseen", f"the golden cases, since {error.name} is not installed")
        return
    try:
        difference = Embedder(model).reproduce()
    except CheckFailed as error:
        yield Finding("changed", str(error))
        return
    yield Finding("same", f"reproduced: every golden case, largest difference {difference:.1e}")


def fresh(
    target: Path, model: Path, config: Config | None, clients: Path | None, languages: Sequence[str]
) -> Finding:
    """Compare clients with a fresh render, which takes the model file."""
    from polybake.generation.generate import generate
    from polybake.lock import Finding

    if config is not None and not model.is_file():
        return Finding("unseen", f"whether clients are fresh, since {model} is not here")
    try:
        changes = generate(model, clients_of(target, clients), languages=languages, check=True)
    except CheckFailed as error:
        return Finding("changed", str(error))
    return Finding("same", told_fresh(changes))
