"""``polybake bench``: how fast model files are, and where their time goes."""

import json
from pathlib import Path
from typing import Annotated

import typer

from polybake.cli.target import JsonOption

_DURATION = (
    "a model file as large as MiniLM takes about two minutes on two idle cores, and each client "
    "one more; with --rounds 1 a third of that"
)


def bench(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Baked model files.")],
    clients: Annotated[
        Path | None,
        typer.Option(help="Also measure each generated client in this folder."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: Annotated[
        list[int] | None,
        typer.Option(help="Threads within one operator; may be given again. Else the default."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is timed.")] = 5,
    texts: Annotated[
        Path | None,
        typer.Option(help="Own texts: .txt (one a line), .jsonl, .csv, .parquet, or - (stdin)."),
    ] = None,
    column: Annotated[
        str, typer.Option(help="The texts' column, or their key in .jsonl.")
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write bench.json to this folder."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the figures to this .svg, .png or .pdf file."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure models, numbers of threads and clients beside each other, in turns.

    Example: polybake bench build/minilm.onnx build/minilm-int8.onnx --plot build/bench.svg
    """
    from rich.console import Console

    from polybake.base.files.atomic import replacing
    from polybake.base.texts import open_corpus
    from polybake.cli.progress import stages
    from polybake.errors import InputError
    from polybake.study.bench.bench import bench as measure
    from polybake.study.bench.plot import write_plot
    from polybake.study.bench.table import print_figures
    from polybake.study.bench.workload import own_workloads, workloads
    from polybake.study.plots import check_plot
    from polybake.verification.harness.harness_file import find_clients

    if output is not None and output.exists() and not output.is_dir():
        raise InputError(f"{output}: is no folder; choose another place for bench.json")
    check_plot(plot)
    if texts is None:  # what one's own take, nobody knows before
        typer.echo(_DURATION, err=True)
    with stages() as progress:
        figures = measure(
            models,
            own_workloads(open_corpus(texts, column)) if texts else workloads(),
            clients=find_clients(clients) if clients else (),
            device=device,
            threads=threads or (),
            rounds=rounds,
            progress=progress,
        )
    content = json.dumps(figures.model_dump(mode="json"), indent=2)
    if output is not None:
        with replacing(output / "bench.json") as file:
            file.write(f"{content}\n".encode())
    if plot is not None:
        write_plot(plot, figures)
    if as_json:
        typer.echo(content)
    else:
        print_figures(figures, Console())
        for path in (output and output / "bench.json", plot):
            if path is not None:
                typer.echo(f"wrote {path}")
    raise typer.Exit(figures.exit_code())
