"""``polybake embed``: the vectors of a file of texts."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from polybake.cli.prompt import wanted_prompt
from polybake.cli.target import JsonOption


def embed(
    model: Annotated[Path, typer.Argument(help="A baked model file.")],
    texts: Annotated[
        Path,
        typer.Argument(
            help="A .txt (one text a line), .jsonl, .csv or .parquet file, or - (stdin)."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The .parquet, .npy or .jsonl file to write.")
    ],
    column: Annotated[
        str, typer.Option(help="The texts' column, or their key in .jsonl.")
    ] = "text",
    prompt: Annotated[
        str | None, typer.Option(help="Embed with this prompt; else the model's default.")
    ] = None,
    query: Annotated[
        bool,
        typer.Option("--query", help="Embed with the model's prompt for queries, or none."),
    ] = False,
    document: Annotated[
        bool,
        typer.Option("--document", help="Embed with the model's prompt for documents, or none."),
    ] = False,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: Annotated[
        int | None, typer.Option(help="Processors to use; else all that there are.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the output, and parts of another run.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Embed texts of any number; run again, an interrupted command goes on where it was.

    Example: polybake embed build/minilm.onnx texts.jsonl -o vectors.parquet --document
    """
    from rich.console import Console

    from polybake.base.texts import open_corpus
    from polybake.bulk.embed.embed import embed as embed_corpus
    from polybake.bulk.embed.machine import Machine

    wanted = wanted_prompt(prompt, query=query, document=document)
    record = embed_corpus(
        model,
        open_corpus(texts, column),
        output,
        prompt=wanted,
        machine=Machine(device, threads),
        force=force,
        console=Console(stderr=True),
    )
    typer.echo(json.dumps(record, indent=2) if as_json else _readable(record, output))


def _readable(record: dict[str, Any], output: Path) -> str:
    """Return ``embedded 12 texts in out.npy: float32 [12, 384], no prompt, fingerprint 0a1b…``."""
    rows, embedding, model = record["texts"]["rows"], record["embedding"], record["model"]
    prompt = "no prompt" if model["prompt"] is None else f"prompt {model['prompt']!r}"
    shape = f"{embedding['dtype']} [{rows}, {embedding['dimension']}]"
    return (
        f"embedded {rows} texts in {output}: {shape}, {prompt}, "
        f"fingerprint {model['fingerprint'][:16]}"
    )
