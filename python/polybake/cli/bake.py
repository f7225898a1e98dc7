"""``polybake bake``: an encoder and its steps into one model file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from polybake.cli.progress import stages
from polybake.cli.target import (
    DEFAULT_CONFIG,
    ConfigOrSource,
    JsonOption,
    NameOption,
    OutputOption,
    PrecisionOption,
    SetOption,
    config_for,
)

if TYPE_CHECKING:
    from polybake.baking.bake import BakeReport
    from polybake.base.modelfile.manifest import Deviation, Manifest
    from polybake.config import Config

#: The mean cosine to exact vectors from which on searches hardly change.
_CLOSE = 0.995

#: The folder that init names.
_BUILD = "build"

#: Dropped tokens that are named.
_SHOWN = 3


def bake(
    target: ConfigOrSource = DEFAULT_CONFIG,
    name: NameOption = None,
    output: OutputOption = None,
    precision: PrecisionOption = None,
    setting: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bake an encoder and its steps into one model file, and prove it.

    Example: polybake bake models/all-MiniLM-L6-v2 --output minilm.onnx
    """
    report = baked(config_for(target, setting, name=name, output=output, precision=precision))
    typer.echo(json.dumps(summary(report), indent=2) if as_json else readable(report))


def baked(config: Config) -> BakeReport:
    """Bake the model of a config, show progress on a terminal, and print what was assumed.

    A new folder ``build`` is hidden from Git, as its files are large.
    """
    from polybake.baking.bake_config import bake_config

    folder = config.model.output.parent
    is_new = not folder.exists()
    with stages() as progress:
        report = bake_config(config, progress=progress)
    if is_new and folder.name == _BUILD:
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
    say_notes(report.notes)
    return report


def say_notes(notes: Iterable[str]) -> None:
    """Print what was assumed, a line each, on standard error."""
    for note in notes:
        typer.echo(f"polybake: note: {note}", err=True)


def summary(report: BakeReport) -> dict[str, object]:
    """Return the result of a bake for --json."""
    return {
        "path": str(report.path),
        "bytes": report.size,
        "weights": None if report.weights is None else str(report.weights),
        "cases": report.cases,
        "differences": report.differences,
        "seconds": report.seconds,
        "manifest": report.manifest.model_dump(mode="json"),
    }


def readable(report: BakeReport) -> str:
    """Return the result of a bake as text."""
    manifest, seconds = report.manifest, sum(report.seconds.values())
    output, tokens = manifest.contract.output, manifest.contract.max_length
    files = f"{report.path}" if report.weights is None else f"{report.path} and {report.weights}"
    proofs = ", ".join(f"{name} {value:.1e}" for name, value in report.differences.items())
    lines = [
        f"baked {files} ({report.size / 1e6:.1f} MB, {seconds:.1f} s)",
        f"  {manifest.encoder} -> {' -> '.join(manifest.steps)}",
        f"  {output.readable}, {tokens} tokens, opset {manifest.opset}",
        f"  proven: {manifest.verified} (largest difference: {proofs})",
        f"  {report.cases} golden cases inside, fingerprint {manifest.fingerprint[:16]}",
    ]
    if dropped := manifest.dropped_tokens:
        names = ", ".join(map(repr, dropped[:_SHOWN])) + ", …" * (len(dropped) > _SHOWN)
        lines.append(
            f"  dropped: {len(dropped)} added tokens that the encoder has no row for ({names}); "
            "what spells them is tokenized like any other text"
        )
    if manifest.cached:
        lines.append(f"  prompts computed once: {manifest.cached.readable}")
    if manifest.deviation:
        lines.insert(4, f"  {_deviates(manifest, manifest.deviation)}")
    return "\n".join(lines)


def _deviates(manifest: Manifest, deviation: Deviation) -> str:
    """Describe the lower precision, and what it changed."""
    storage = "float16 token table" if manifest.storage == "float16-table" else "float16 weights"
    precision = storage if manifest.precision == "float32" else manifest.precision
    if deviation.answers:
        return (
            f"{precision}: numbers differ from the exact ones by {deviation.max_abs:.1e} at most; "
            f"{deviation.reordered} of {deviation.answers} golden answers are in another order"
        )
    text = (
        f"{precision}: cosine to the exact vectors {deviation.mean_cosine:.5f} in the mean, "
        f"{deviation.min_cosine:.4f} at least"
    )
    if deviation.mean_cosine >= _CLOSE:
        return text
    return f"{text}; below {_CLOSE}: compare with float32 on texts of your own before you use it"
