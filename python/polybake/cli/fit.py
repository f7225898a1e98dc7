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
    note = _note(
        record, model, texts, ranges_alone=ranges and not (pca or whiten or remove_components)
    )
    if as_json:
        typer.echo(json.dumps(record | ({"note": note} if note else {}), indent=2))
        return
    typer.echo(_readable(record, output))
    if note:
        typer.echo(f"note: {note}", err=True)


def _note(record: dict[str, Any], model: Path, texts: Path, *, ranges_alone: bool) -> str:
    """What was really fitted, if a step of the file has taken a mean off before."""
    from polybake.baking.recipe.fit import ARRAYS

    prefixes = tuple(f"{step}(" for step, files in ARRAYS.items() if "mean.npy" in files.values())
    mean = next((step for step in record["model"]["steps"] if step.startswith(prefixes)), None)
    if mean is None or ranges_alone:
        return ""
    return (
        f"{model} already has the step {mean}, so these arrays, and the mean among them, are of "
        "what that step leaves. To fit that step anew, fit on a file baked without it, or write "
        f"fit = {_toml(texts)} in the step's table of polybake.toml, and build"
    )


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
    comment = f"# directly behind: {' -> '.join(map(printable, before)) or 'the encoder'}"
    return ["", comment, "[[steps]]", f'step = "{step}"']


def _toml(path: Path) -> str:
    return json.dumps(path.as_posix(), ensure_ascii=False)
