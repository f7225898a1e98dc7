"""``polybake bake``: an encoder and its steps into one model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.target import (
    DEFAULT_CONFIG,
    ConfigOrSource,
    EncoderOption,
    JsonOption,
    config_for,
)
from polybake.errors import RequirementMissing

if TYPE_CHECKING:
    from polybake.baking.bake import BakeReport
    from polybake.config import Config
    from polybake.fixtures.texts import CaseText


def bake(
    target: ConfigOrSource = DEFAULT_CONFIG,
    name: Annotated[str | None, typer.Option(help="The model's name, a-z, 0-9, hyphen.")] = None,
    output: Annotated[Path | None, typer.Option(help="The model file to write.")] = None,
    functions: Annotated[
        bool, typer.Option("--functions", help="Make each step one node: a named ONNX function.")
    ] = False,
    expose: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Add a step (steps.0 or pool), token_embeddings or any value as an output, for "
            "debugging. May be given again.",
        ),
    ] = None,
    encoder: EncoderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bake an encoder and its steps into one model file, and prove it.

    Example: polybake bake models/all-MiniLM-L6-v2 --output minilm.onnx
    """
    config = config_for(target, name=name, output=output, encoder=encoder)
    model = config.model.model_copy(
        update={
            "functions": functions or config.model.functions,
            "expose": tuple(expose or config.model.expose),
        }
    )
    report = bake_config(config.model_copy(update={"model": model}))
    if as_json:
        typer.echo(json.dumps(summary(report), indent=2))
    else:
        typer.echo(readable(report))


def bake_config(config: Config) -> BakeReport:
    """Bake what a config describes.

    Raises:
        RequirementMissing: the packages that build graphs are not installed.
    """
    try:
        import onnxruntime  # noqa: F401 - asked for early, so that nothing is half done

        from polybake.baking.bake import bake as bake_source
        from polybake.recipe.resolve import resolve
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f'baking needs the package {error.name}; pip install "polybake[bake,cpu]"'
        ) from error
    from polybake.sources import open_source

    source = open_source(config.model.source, config.model.encoder)
    specs = source.recipe if config.steps is None else config.steps
    return bake_source(
        source,
        resolve(specs, base=config.folder, source=source),
        config.model.output,
        name=config.model.name,
        description=config.model.description,
        prompts=config.prompts,
        default_prompt=config.model.default_prompt,
        extra_cases=own_cases(config) if config.fixtures.embed == "all" else (),
        functions=config.model.functions,
        expose=config.model.expose,
    )


def own_cases(config: Config) -> list[CaseText]:
    """The user's texts, one a line, as cases."""
    from polybake.fixtures.texts import read_texts, user_cases

    return user_cases(read_texts(config.fixtures.texts))


def summary(report: BakeReport) -> dict[str, object]:
    """What a bake did, for --json."""
    return {
        "path": str(report.path),
        "bytes": report.size,
        "cases": report.cases,
        "differences": report.differences,
        "seconds": report.seconds,
        "manifest": report.manifest.model_dump(mode="json"),
    }


def readable(report: BakeReport) -> str:
    """What a bake did, for a person."""
    manifest, seconds = report.manifest, sum(report.seconds.values())
    output, tokens = manifest.contract.output, manifest.contract.max_length
    proofs = ", ".join(f"{name} {value:.1e}" for name, value in report.differences.items())
    return "\n".join(
        [
            f"baked {report.path} ({report.size / 1e6:.1f} MB, {seconds:.1f} s)",
            f"  {manifest.encoder} -> {' -> '.join(manifest.steps)}",
            f"  {output.readable}, {tokens} tokens, opset {manifest.opset}",
            f"  proven: {manifest.verified} (largest difference: {proofs})",
            f"  {report.cases} golden cases inside, fingerprint {manifest.fingerprint[:16]}",
        ]
    )
