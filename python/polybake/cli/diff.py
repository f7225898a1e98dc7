"""``polybake diff``: which part of two model files differs, and must vectors be made again?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.cli.target import JsonOption
from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.study.diff.module_change import ModuleChange
    from polybake.study.diff.neighbours import Neighbours
    from polybake.study.diff.parts import ModelParts
    from polybake.study.diff.samples import Sample
    from polybake.study.diff.stage_result import StageResult


def diff(
    before: Annotated[Path, typer.Argument(help="A baked model file.")],
    after: Annotated[Path, typer.Argument(help="The one that is to take its place.")],
    texts: Annotated[
        Path | None,
        typer.Option(
            help="Own texts, to find neighbours among: .txt (one a line), .jsonl, .csv, "
            ".parquet, or -."
        ),
    ] = None,
    column: Annotated[
        str, typer.Option(help="The texts' column, or their key in .jsonl.")
    ] = "text",
    prompt: Annotated[
        str | None,
        typer.Option(help="The prompt of own texts; else those of documents and queries."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw distances and neighbours to this .svg, .png or .pdf file."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two model files: their parts, their vectors, and the neighbours these have.

    The last line says whether texts embedded with the first file must be embedded again. If so,
    the exit code is 1. For a task whose vectors are not stored, it is 1 if the answers differ.

    Example: polybake diff build/minilm.onnx build/minilm-int8.onnx
    """
    from polybake.study.diff.diff_report import modules_lines, parts_lines, stages_lines
    from polybake.study.diff.facts import facts
    from polybake.study.diff.parts import compare_parts
    from polybake.study.diff.plot import write_plot
    from polybake.study.diff.verdict import verdict
    from polybake.study.plots import check_plot

    check_plot(plot)
    parts = compare_parts(before, after)
    windows = own_texts(parts, texts, column, prompt)

    def show(lines: Iterable[str]) -> None:
        if not as_json:
            typer.echo("\n".join(lines))

    show(parts_lines(parts))
    modules: tuple[ModuleChange, ...] = ()
    stages: tuple[StageResult, ...] = ()
    neighbours, shorter = None, None
    if parts.differs("graph"):
        from polybake.study.diff.graphs import compare_graphs

        modules = compare_graphs(before, after)
        show(modules_lines(modules))
    if parts.runnable and not parts.same:
        stages, neighbours, shorter = run(parts, samples(parts, windows, prompt))
        show(stages_lines(stages))
        if parts.searchable:
            from polybake.study.diff.diff_report import neighbours_lines

            show(neighbours_lines(neighbours))
    answer = verdict(parts, stages, neighbours, shorter)
    if plot is not None:
        write_plot(plot, parts, stages, neighbours, answer)
        show([f"wrote {plot}"])
    if as_json:
        data = facts(parts, modules, stages, neighbours, shorter, answer)
        typer.echo(json.dumps(data, indent=2))
    show(["", str(answer)])
    raise typer.Exit(1 if answer.answer == "yes" else 0)


def own_texts(
    parts: ModelParts, path: Path | None, column: str, prompt: str | None
) -> Iterator[list[str]] | None:
    """Return the windows of a user's file, checked before anything runs; None without a file."""
    from polybake.base.texts import open_corpus
    from polybake.runtime.prompt import Prompt

    if path is None:
        if prompt is not None:
            raise InputError("--prompt is the prompt of own texts; give them with --texts")
        return None
    for head in (parts.before, parts.after):
        contract = head.manifest.contract
        if contract.pair is not None:
            raise InputError(
                f"{head.path}: takes pairs of texts; leave --texts out, the golden cases have pairs"
            )
        if prompt is not None:
            try:
                Prompt(prompt).contract(contract)
            except InputError as error:
                raise InputError(f"{head.path}: {error}") from error
    windows = open_corpus(path, column).windows()
    return ([text for text in window.texts if text is not None] for window in windows)


def samples(
    parts: ModelParts, windows: Iterable[list[str]] | None, prompt: str | None
) -> Iterator[Sample]:
    """Yield the golden texts, then the user's own or the built-in texts."""
    from polybake.study.diff.samples import built_in_texts, golden_samples, search_samples

    yield from golden_samples(parts)
    if windows is not None:
        yield from search_samples(parts, windows, prompt)
    elif parts.searchable:
        yield from search_samples(parts, built_in_texts(parts))


def run(
    parts: ModelParts, samples: Iterable[Sample]
) -> tuple[tuple[StageResult, ...], Neighbours | None, str | None]:
    """Run texts through both files, with progress on a terminal."""
    from polybake.cli.progress import stages
    from polybake.study.diff.neighbours import compare_neighbours
    from polybake.study.diff.search_vectors import SearchVectors, truncation
    from polybake.study.diff.stages import compare_stages, strictest

    vectors = SearchVectors()
    before, after = parts.before.manifest, parts.after.manifest
    with stages() as progress:
        results = compare_stages(parts, samples, vectors, progress)
        progress("neighbours")
        neighbours = compare_neighbours(vectors, before, after, comparable=not parts.obstacle)
    return results, neighbours, truncation(vectors, strictest(parts))
