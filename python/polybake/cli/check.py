"""``polybake check``: is a model file whole, does it keep its word, are its clients fresh?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.cli.generate import clients_of, model_of
from polybake.cli.target import DEFAULT_CONFIG, ConfigOrModel
from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.base.modelfile.manifest import Manifest
    from polybake.config import Config


def check(
    target: ConfigOrModel = DEFAULT_CONFIG,
    clients: Annotated[
        Path | None, typer.Option(help="Also check the generated clients below this folder.")
    ] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only this language's client.")] = None,
    signature: Annotated[
        Path | None, typer.Option(help="Also check this signature, before all else.")
    ] = None,
    public_key: Annotated[
        Path | None, typer.Option(help="The signer's key, a PEM file; for --signature.")
    ] = None,
) -> None:
    """Check a model file's digests and golden cases, and that settings and clients are its own.

    Example: polybake check build/minilm.onnx --clients clients
    """
    from polybake.base.modelfile.container import check_digest, read_head
    from polybake.config import load_config
    from polybake.generation.generate import generate

    config = load_config(target) if target.suffix == ".toml" else None
    model = model_of(target)
    if signature is not None or public_key is not None:
        typer.echo(signed(model, signature, public_key))
    head = read_head(model)
    check_digest(head)
    typer.echo(f"whole: {model}, fingerprint {head.manifest.fingerprint}")
    typer.echo(reproduced(model))
    if config is not None:
        typer.echo(current(config, head.manifest))
    if model is not target or clients is not None:
        settings = clients_of(target, clients)
        done = generate(head.manifest, settings, languages=language or (), check=True)
        typer.echo(f"fresh: {', '.join(done)}")


def signed(model: Path, signature: Path | None, public_key: Path | None) -> str:
    """Check the signature; nothing of the file is looked at before."""
    if signature is None or public_key is None:
        raise InputError("--signature and --public-key belong together; give both")
    from polybake.shipping.sign.signature import check_signature

    check_signature(model, signature, public_key)
    return f"signed: {model}, by the holder of {public_key}"


def current(config: Config, manifest: Manifest) -> str:
    """Compare the settings with what was baked, if their source is available."""
    from polybake.base.files.hub_reference import HubReference

    source = config.model.source
    if isinstance(source, HubReference) or not source.exists():
        return f"skipped: the settings, since their source {source} is not here"
    try:
        from polybake.baking.same_settings import check_same_settings
    except ModuleNotFoundError as error:
        return f"skipped: the settings, since {error.name} is not installed"
    check_same_settings(config, manifest)
    return f"current: {config.model.output} was baked with these settings"


def reproduced(model: Path) -> str:
    """Reproduce the golden cases in the file, if the runtime is installed."""
    try:
        from polybake.runtime.embedder import Embedder
    except ModuleNotFoundError as error:
        return f"skipped: the golden cases, since {error.name} is not installed"
    return f"reproduced: every golden case, largest difference {Embedder(model).reproduce():.1e}"
