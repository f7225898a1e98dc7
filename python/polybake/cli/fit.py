"""``polybake fit``: the arrays of steps, made from the embeddings of a corpus."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from polybake.base.files.printable import printable
from polybake.cli.target import JsonOption

#: The step of each file beside the mean, and the step's key for the file.
_STEPS = {
    "components.npy": ("pca", "components"),
    "matrix.npy": ("whiten", "matrix"),
    "top.npy": ("remove_components", "components"),
}


def fit(
    model: Annotated[Path, typer.Argument(help="A baked model file, without the steps to fit.")],
    texts: Annotated[
        Path, typer.Argument(help="A .txt (one text a line), .jsonl, .csv or .parquet file.")
    ],
    output: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("fitted"),
    pca: Annotated[int | None, typer.Option(help="Fit this many principal components.")] = None,
    whiten: Annotated[int | None, typer.Option(help="Fit whitening to this many elements.")] = None,
    remove_components: Annotated[
        int | None, typer.Option(help="Fit this many top components, to be removed.")
    ] = None,
    ranges: Annotated[
        bool, typer.Option("--ranges", help="Fit the smallest and largest values.")
    ] = False,
    prompt: Annotated[
        str | None, typer.Option(help="Embed with this prompt; else the model's default.")
    ] = None,
    column: Annotated[
        str, typer.Option(help="The texts' column, or their key in .jsonl.")
    ] = "text",
    as_json: JsonOption = False,
) -> None:
    """Fit the mean and, where asked, the arrays of other steps to a corpus.

    Example: polybake fit build/minilm.onnx corpus.txt --whiten 256
    """
    from rich.console import Console

    from polybake.bulk.fit.corpus import Corpus
    from polybake.bulk.fit.fit import Wanted
    from polybake.bulk.fit.fit import fit as fit_corpus

    record = fit_corpus(
        model,
        Corpus(texts, column),
        Wanted(pca, whiten, remove_components, ranges),
        output,
        prompt=prompt,
        console=Console(stderr=True),
    )
    typer.echo(json.dumps(record, indent=2) if as_json else _readable(record, output))


def _readable(record: dict[str, Any], output: Path) -> str:
    """Return what was fitted, and the tables for polybake.toml."""
    texts, names = record["corpus"]["texts"], list(record["arrays"])
    before = record["model"]["steps"]
    again = ["", "[[steps]]", 'step = "normalize"'] * (before[-1:] == ("normalize()",))
    lines = [f"fitted {', '.join(names)} to {texts} texts, in {output}"]
    mean = _toml(output / "mean.npy")
    if names == ["mean.npy"]:
        lines += [*_table(before, "subtract"), f"vector = {mean}", *again]
    for name in filter(_STEPS.__contains__, names):
        step, key = _STEPS[name]
        lines += [*_table(before, step), f"mean = {mean}", f"{key} = {_toml(output / name)}"]
        lines += again
    if "ranges.npy" in names:
        lines += [*_table(before, "quantize"), 'precision = "int8"']
        lines += [f"ranges = {_toml(output / 'ranges.npy')}"]
    return "\n".join(lines)


def _table(before: tuple[str, ...], step: str) -> list[str]:
    """The beginning of a step's table, and after which steps it belongs."""
    place = f"# directly behind: {' -> '.join(map(printable, before)) or 'the encoder'}"
    return ["", place, "[[steps]]", f'step = "{step}"']


def _toml(path: Path) -> str:
    return json.dumps(path.as_posix(), ensure_ascii=False)
