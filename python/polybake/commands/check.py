"""``polybake check``: is a model file whole, does it keep its word, are its clients fresh?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polybake.commands.generate import check_clients, client_tables
from polybake.commands.target import DEFAULT_CONFIG, ConfigOrModel


def check(
    target: ConfigOrModel = DEFAULT_CONFIG,
    clients: Annotated[
        Path | None, typer.Option(help="Also check the generated clients below this folder.")
    ] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only this language's client.")] = None,
) -> None:
    """Check a model file's digests and golden cases, and that its clients are fresh.

    Example: polybake check build/minilm.onnx --clients clients
    """
    from polybake.config import load_config
    from polybake.modelfile.container import check_tail, read_head

    is_config = target.suffix == ".toml"
    model = load_config(target).model.output if is_config else target
    head = read_head(model)
    check_tail(head)
    typer.echo(f"whole: {model}, fingerprint {head.manifest.fingerprint}")
    typer.echo(reproduced(model))
    if is_config or clients is not None:
        check_clients(head.manifest, client_tables(target, clients, language))


def reproduced(model: Path) -> str:
    """Reproduce the golden cases in the file, where the runtime is installed."""
    try:
        from polybake.runtime.embedder import Embedder
    except ModuleNotFoundError as error:
        return f"skipped: the golden cases, since {error.name} is not installed"
    return f"reproduced: every golden case, largest difference {Embedder(model).self_check():.1e}"
