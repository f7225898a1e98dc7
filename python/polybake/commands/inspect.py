"""``polybake inspect``: what a model file or a source holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.target import JsonOption
from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.modelfile import Head


def inspect(
    target: Annotated[Path, typer.Argument(help="A baked model file, or a source to bake.")],
    extract: Annotated[
        Path | None,
        typer.Option(help="Write manifest.json, tokenizer.json and cases.json to this folder."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model file holds and what a client would do with it.

    Example: polybake inspect build/minilm.onnx
    """
    from polybake.modelfile import is_baked, read_head

    if target.is_file() and is_baked(target):
        head = read_head(target)
        if extract is not None:
            typer.echo(f"wrote {', '.join(extract_parts(head, extract))}")
        elif as_json:
            typer.echo(json.dumps(head.manifest.model_dump(mode="json"), indent=2))
        else:
            typer.echo(describe_model(head, target))
        return
    if extract is not None:
        raise InputError(f"{target}: is not a baked model file; bake it first: polybake bake")
    facts = describe_source(target)
    typer.echo(json.dumps(facts, indent=2) if as_json else _lines(facts))


def describe_model(head: Head, path: Path) -> str:
    """A baked model file, for a person."""
    manifest, contract = head.manifest, head.manifest.contract
    prompts = {name: repr(text) for name, text in contract.prompts.items()}
    return _lines(
        {
            "model": f"{manifest.name} ({path.stat().st_size / 1e6:.1f} MB)",
            "encoder": f"{manifest.encoder}, opset {manifest.opset}, {manifest.precision}",
            "steps": " -> ".join(manifest.steps),
            "inputs": ", ".join(f"{item.name} ({item.feed})" for item in contract.inputs),
            "output": f"{contract.output.name}, {contract.output.dtype} "
            f"[batch, {contract.output.dimension}]",
            "texts": f"at most {contract.max_length} tokens, padded on the {contract.pad_side} "
            f"with {contract.pad_id}",
            "prompts": ", ".join(f"{name} {text}" for name, text in prompts.items()) or "none",
            "similarity": manifest.similarity,
            "source": manifest.source.identifier,
            "licence": manifest.source.licence or "not stated",
            "proven": manifest.verified,
            "golden cases": f"{len(head.fixture.cases)} ({head.fixture.made_by.kind})",
            "fingerprint": manifest.fingerprint,
            "written by": f"polybake {manifest.generator}",
        }
    )


def describe_source(path: Path) -> dict[str, object]:
    """What a bake would start from."""
    from polybake.sources import open_source

    source = open_source(path)
    return {
        "source": source.identifier,
        "encoder": source.encoder.name,
        "steps": [dict(spec) for spec in source.recipe],
        "prompts": source.prompts,
        "default_prompt": source.default_prompt,
        "max_length": source.max_length,
        "similarity": source.similarity,
        "licence": source.licence,
    }


def extract_parts(head: Head, folder: Path) -> list[str]:
    """Write the parts of the head as files; their paths."""
    from polybake.atomic import replacing

    parts = {
        "manifest.json": head.manifest.model_dump(mode="json"),
        "tokenizer.json": json.loads(head.tokenizer),
        "cases.json": head.fixture.model_dump(mode="json"),
    }
    for name, value in parts.items():
        with replacing(folder / name) as file:
            file.write((json.dumps(value, indent=2) + "\n").encode("ascii"))
    return [str(folder / name) for name in parts]


def _lines(facts: dict[str, object]) -> str:
    width = max(len(name) for name in facts)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())
