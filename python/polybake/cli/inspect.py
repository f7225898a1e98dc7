"""``polybake inspect``: what a model file or a source holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.base.files.hub_reference import parse_source
from polybake.cli.target import JsonOption, SetOption, config_for
from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.baking.sources.source import Source
    from polybake.base.modelfile.container import FileHead


def inspect(
    target: Annotated[Path, typer.Argument(help="A baked model file, or a source to bake.")],
    extract: Annotated[
        Path | None,
        typer.Option(help="Write manifest.json, tokenizer.json and cases.json to this folder."),
    ] = None,
    shapes: Annotated[
        bool, typer.Option("--shapes", help="Show dtype and shape of every value of the graph.")
    ] = False,
    view: Annotated[
        bool, typer.Option("--view", help="Show the graph in a browser, with Netron, until Ctrl-C.")
    ] = False,
    setting: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model file or a source holds, and what a client would do with it.

    With --shapes or --view, any .onnx file may be given.

    Example: polybake inspect build/minilm.onnx
    """
    if shapes:
        show_shapes(target, as_json=as_json)
    if extract is not None or not (shapes or view):
        show_contents(target, extract, setting, as_json=as_json)
    if view:
        from polybake.study.inspect.view import view as serve_view

        line = f"{target.name}: open {{}} in a browser, and end by Ctrl-C"
        serve_view(target, lambda address: typer.echo(line.format(address), err=as_json))


def show_shapes(path: Path, *, as_json: bool) -> None:
    """Print the values of an ONNX file's graph."""
    from polybake.study.inspect.graph import read_graph
    from polybake.study.inspect.shapes import shape_facts, shape_table

    facts = shape_facts(read_graph(path))
    typer.echo(json.dumps(facts, indent=2) if as_json else shape_table(facts))


def show_contents(
    target: Path, extract: Path | None, setting: Sequence[str] | None, *, as_json: bool
) -> None:
    """Print what a baked model file or a source holds, or write a file's parts."""
    from polybake.base.modelfile.container import is_baked, read_head

    reference = parse_source(target)
    if isinstance(reference, Path) and reference.is_file() and is_baked(reference):
        head = read_head(target)
        if extract is not None:
            typer.echo(f"wrote {', '.join(extract_parts(head, extract))}")
        elif as_json:
            typer.echo(json.dumps(head.manifest.model_dump(mode="json"), indent=2))
        else:
            typer.echo(describe_model(head))
        return
    if extract is not None:
        raise InputError(f"{target}: is not a baked model file; bake it first: polybake bake")
    from polybake.baking.sources import open_source

    source = open_source(reference, config_for(target, setting, name="source").model)
    typer.echo(json.dumps(source_facts(source), indent=2) if as_json else describe_source(source))


def describe_model(head: FileHead) -> str:
    """A baked model file, for a person."""
    manifest, contract = head.manifest, head.manifest.contract
    prompted = {
        "prompts": _prompts(contract.prompts),
        "default prompt": contract.default_prompt,
        "similarity": manifest.similarity,
    }
    labels = contract.settings.get("labels")
    vectors = contract.pair is None and labels is None
    return _lines(
        {
            "model": f"{manifest.name} ({head.size / 1e6:.1f} MB)",
            **({"weights": str(head.weights_path)} if head.weights_path else {}),
            "task": contract.task,
            "encoder": f"{manifest.encoder}, opset {manifest.opset}, {manifest.precision}",
            "steps": " -> ".join(manifest.steps),
            "inputs": ", ".join(f"{item.name} ({item.feed})" for item in contract.inputs),
            "output": f"{contract.output.name}, {contract.output.readable}",
            "texts": f"at most {contract.max_length} tokens, padded on the {contract.pad_side} "
            f"with {contract.pad_id}",
            **(prompted if vectors else {}),
            **({"labels": ", ".join(map(str, labels))} if isinstance(labels, list) else {}),
            **({"cached": manifest.cached.readable} if manifest.cached else {}),
            "source": manifest.source.identifier,
            "licence": manifest.source.licence or "not stated",
            "proven": manifest.verified,
            "exposed": ", ".join(manifest.exposed),
            "golden cases": f"{len(head.fixture.cases)} ({head.fixture.made_by.kind})",
            "fingerprint": manifest.fingerprint,
            "written by": f"polybake {manifest.generator}",
        }
    )


def source_facts(source: Source) -> dict[str, object]:
    """Return the facts of the source of a bake."""
    from polybake.baking.tasks import task_of

    task = task_of(source)
    return {
        "source": source.folder.identifier,
        "task": task.name,
        "encoder": source.encoder.name,
        "steps": [dict(spec) for spec in task.recipe(source)],
        "prompts": source.prompts,
        "default_prompt": source.default_prompt,
        "max_length": source.max_length,
        "similarity": source.similarity,
        "licence": source.folder.licence(),
    }


def describe_source(source: Source) -> str:
    """The same for a person; its steps as the manifest would have them."""
    from polybake.baking.recipe.resolve import resolve
    from polybake.baking.tasks import task_of

    recipe = task_of(source).recipe(source)
    steps = resolve(recipe, base=source.folder.path, source=source)
    return _lines(
        source_facts(source)
        | {
            "steps": " -> ".join(map(str, steps)),
            "prompts": _prompts(source.prompts),
            "licence": source.folder.licence() or "not stated",
        }
    )


def extract_parts(head: FileHead, folder: Path) -> list[str]:
    """Write the parts of the head as files; their paths."""
    from polybake.base.files.atomic import replacing

    parts = {
        "manifest.json": head.manifest.model_dump(mode="json"),
        "tokenizer.json": json.loads(head.tokenizer),
        "cases.json": head.fixture.model_dump(mode="json"),
    }
    for name, value in parts.items():
        with replacing(folder / name) as file:
            file.write((json.dumps(value, indent=2) + "\n").encode("ascii"))
    return [str(folder / name) for name in parts]


def _prompts(prompts: Mapping[str, str]) -> str:
    """Return the prompts in quotes, as a prompt may end in a space."""
    return ", ".join(f'{name} "{text}"' for name, text in prompts.items())


def _lines(facts: Mapping[str, object]) -> str:
    """Return a line for each fact, without control characters, as a model chooses its names."""
    from polybake.base.files.printable import printable

    width = max(map(len, facts))
    return "\n".join(
        f"{name.replace('_', ' '):<{width}}  {printable(str(fact or 'none'))}"
        for name, fact in facts.items()
    )
