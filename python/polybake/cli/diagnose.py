"""``polybake diagnose``: why vectors that another program made are not the model file's."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polybake.cli.progress import stages
from polybake.cli.prompt import wanted_prompt
from polybake.cli.target import JsonOption

if TYPE_CHECKING:
    from polybake.study.diagnose.diagnose import Diagnosis

#: The most characters of a text and the most explanations that are shown, and the least part of
#: the gap that a shown explanation explains.
_TEXT, _MOST, _LEAST = 60, 5, 0.1

#: Seconds between lines of progress.
_PAUSE = 5.0


def diagnose(
    model: Annotated[Path, typer.Argument(help="A baked model file.")],
    vectors: Annotated[
        Path | None,
        typer.Option(help="The vectors to explain: a .npy, .jsonl, .csv or .parquet file."),
    ] = None,
    harness: Annotated[
        str | None,
        typer.Option(help="Where to ask for vectors: a command, or the address of a service."),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(help="The texts; else those beside the vectors, or golden ones."),
    ] = None,
    column: Annotated[str, typer.Option(help="The column of the vectors.")] = "embedding",
    text_column: Annotated[str, typer.Option(help="The column of the texts.")] = "text",
    prompt: Annotated[
        str | None, typer.Option(help="The prompt to expect before the texts; else the default.")
    ] = None,
    query: Annotated[bool, typer.Option("--query", help="Expect the prompt for queries.")] = False,
    document: Annotated[
        bool, typer.Option("--document", help="Expect the prompt for documents.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="For each answer of a harness.")
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Say which known difference explains why vectors are not the model file's own.

    Example: polybake diagnose build/minilm.onnx --vectors theirs.npy --texts texts.txt
    """
    from polybake.base.modelfile.container import read_head
    from polybake.errors import InputError
    from polybake.study.diagnose.diagnose import diagnose as diagnosed
    from polybake.study.diagnose.harness_vectors import golden_texts, request_vectors
    from polybake.study.diagnose.vector_files import read_texts, read_vectors

    wanted = wanted_prompt(prompt, query=query, document=document)
    other = None
    with stages() as progress:
        tell = _told(progress)
        if vectors is not None and harness is None:
            all_texts, theirs = read_vectors(vectors, texts, column=column, text_column=text_column)
        elif harness is not None and vectors is None:
            all_texts = read_texts(texts, text_column) if texts else golden_texts(model)
            tell(f"asking for {len(all_texts)} vectors")
            manifest = read_head(model).manifest
            name = wanted.contract(manifest.contract).default_prompt
            answers = request_vectors(harness, model, all_texts, name, timeout)
            theirs = answers.vectors
            other = answers.fingerprint if answers.fingerprint != manifest.fingerprint else None
        else:
            raise InputError("give either --vectors FILE or --harness COMMAND, and not both")
        result = diagnosed(model, all_texts, theirs, wanted, tell)
    if as_json:
        typer.echo(json.dumps(_data(result) | {"other_file": other}, indent=2))
    else:
        typer.echo(_readable(result))
        if other:
            typer.echo(
                f"the service serves another model file, of fingerprint {other}; compare both by: "
                "polybake diff"
            )
    if result.verdict != "same":
        raise typer.Exit(1)


def _told(progress: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that shows a stage; without a terminal it prints a line every 5 seconds."""
    moment = time.monotonic()

    def tell(stage: str) -> None:
        nonlocal moment
        progress(stage)
        if not sys.stderr.isatty() and time.monotonic() - moment > _PAUSE:
            moment = time.monotonic()
            typer.echo(stage, err=True)

    return tell


def _readable(result: Diagnosis) -> str:
    from polybake.base.files.printable import printable

    reasons = [reason for reason in result.found[:_MOST] if reason.explained >= _LEAST]
    lines = [_verdict(result), *(f"  {line}" for line in result.astray)]
    lines += [f"{reason.explained:>8.1%}  {reason.name}" for reason in reasons]
    if result.rounding:
        remainder = f"what is left, {result.left:.2g} of a vector's length at most,"
        gap = remainder if result.verdict == "explained" else "so small a gap"
        lines.append(f"{gap} may come of arithmetic: {result.rounding}")
    if result.ended:
        lines.append("not all differences and pairs of them were tried: the time for them ended")
    if reasons:
        lines.append("shown best by:")
        lines += [
            f"  text {one.row}: {printable(one.text[:_TEXT])!r}: {one.explained:.1%} of a distance "
            f"of {one.gap:.2g}"
            for one in result.examples
        ]
    return "\n".join(lines)


def _verdict(result: Diagnosis) -> str:
    """Return a line that says whether there is a gap, and whether it is explained."""
    if result.difference is None:
        gap = "the vectors have another dimension"
    else:
        gap = f"elements differ by {result.difference:.2g} of a vector's length at most"
    verdict = "the same" if result.verdict == "same" else result.verdict
    line = f"{verdict}: {result.rows} vectors"
    if result.zeros == result.rows:
        return line
    line += f": {gap}"
    if result.swapped:
        line += ", once the bytes of each float are in the other order"
    if result.moved:
        line += f", once {result.moved} vectors are beside their own texts"
    if result.verdict == "unexplained" and not result.rounding:
        line += (
            "; nothing was found in the time for it; try fewer texts, some of them long"
            if result.ended
            else "; nothing known explains it: another checkpoint, perhaps"
        )
    return line


def _data(result: Diagnosis) -> dict[str, Any]:
    return {
        "verdict": result.verdict,
        "vectors": result.rows,
        "largest_difference": result.difference,
        "bytes_swapped": result.swapped,
        "zeros": result.zeros,
        "in_another_order": result.moved,
        "order": list(result.astray),
        "left": result.left,
        "rounding": result.rounding,
        "all_tried": not result.ended,
        "explanations": [{"name": item.name, "explained": item.explained} for item in result.found],
        "examples": [vars(case) for case in result.examples],
    }
