"""``polybake inspect``: what a model file or a source holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.target import EncoderOption, JsonOption
from polybake.encoder_maker import EncoderMaker
from polybake.errors import InputError, RequirementMissing
from polybake.files.hub_reference import HubReference, parse_source

if TYPE_CHECKING:
    from polybake.modelfile.container import Head


def inspect(
    target: Annotated[Path, typer.Argument(help="A baked model file, or a source to bake.")],
    extract: Annotated[
        Path | None,
        typer.Option(help="Write manifest.json, tokenizer.json and cases.json to this folder."),
    ] = None,
    shapes: Annotated[
        bool, typer.Option("--shapes", help="Show dtype and shape of every value of the graph.")
    ] = False,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the graph to this .svg or .html file."),
    ] = None,
    encoder: EncoderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model file holds and what a client would do with it.

    With --shapes and --graph it may also be an .onnx file that is not baked.

    Example: polybake inspect build/minilm.onnx
    """
    from polybake.modelfile.container import is_baked, read_head

    for line in look(target, graph, shapes=shapes, as_json=as_json):
        typer.echo(line)
    if extract is None and (shapes or graph is not None):
        return
    source = parse_source(target)
    if isinstance(source, Path) and source.is_file() and is_baked(source):
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
    facts = describe_source(source, encoder or EncoderMaker.NATIVE)
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
            "output": f"{contract.output.name}, {contract.output.readable}",
            "texts": f"at most {contract.max_length} tokens, padded on the {contract.pad_side} "
            f"with {contract.pad_id}",
            "prompts": ", ".join(f"{name} {text}" for name, text in prompts.items()) or "none",
            "similarity": manifest.similarity,
            "source": manifest.source.identifier,
            "licence": manifest.source.licence or "not stated",
            "proven": manifest.verified,
            "exposed": ", ".join(manifest.exposed) or "none",
            "golden cases": f"{len(head.fixture.cases)} ({head.fixture.made_by.kind})",
            "fingerprint": manifest.fingerprint,
            "written by": f"polybake {manifest.generator}",
        }
    )


def look(path: Path, graph: Path | None, *, shapes: bool, as_json: bool) -> Iterator[str]:
    """Draw the graph of an ONNX file and describe its values, where asked for.

    Raises:
        InputError: not an ONNX file, or the picture cannot be written.
        RequirementMissing: the packages that read graphs are not installed.
    """
    if graph is None and not shapes:
        return
    try:
        from polybake.inspection.graph import read_graph
        from polybake.inspection.picture import write_picture
        from polybake.inspection.shapes import shape_facts, shape_table
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f'reading graphs needs the package {error.name}; pip install "polybake[bake]"'
        ) from error
    if graph is not None:
        write_picture(path, graph)
        yield f"wrote {graph}"
    if shapes:
        facts = shape_facts(read_graph(path))
        yield json.dumps(facts, indent=2) if as_json else shape_table(facts)


def describe_source(given: HubReference | Path, encoder: EncoderMaker) -> dict[str, object]:
    """What a bake would start from."""
    from polybake.sources import open_source

    source = open_source(given, encoder)
    return {
        "source": source.folder.identifier,
        "encoder": source.encoder.name,
        "steps": [dict(spec) for spec in source.recipe],
        "prompts": source.prompts,
        "default_prompt": source.default_prompt,
        "max_length": source.max_length,
        "similarity": source.similarity,
        "licence": source.folder.licence(),
    }


def extract_parts(head: Head, folder: Path) -> list[str]:
    """Write the parts of the head as files; their paths."""
    from polybake.files.atomic import replacing

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
