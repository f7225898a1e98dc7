"""Embed a corpus of any length: memory does not grow with it, and no finished work is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich.console import Console

from polybake.base.modelfile.container import read_head
from polybake.base.texts.progress import tracked
from polybake.base.texts.source import TextSource
from polybake.base.texts.window import Window
from polybake.bulk.embed.machine import Machine
from polybake.bulk.embed.outputs import output_for
from polybake.bulk.embed.outputs.output import COLUMN, Output
from polybake.bulk.embed.parts import Parts
from polybake.bulk.embed.record import other_vectors, read_record, record, record_of
from polybake.errors import CheckFailed, InputError
from polybake.runtime.prompt import Prompt
from polybake.runtime.runner import Runner


def embed(
    model: Path,
    source: TextSource,
    out: Path,
    *,
    prompt: Prompt,
    machine: Machine,
    force: bool = False,
    console: Console,
) -> dict[str, Any]:
    """Write the vectors of all rows of a corpus, in order.

    An interrupted call leaves the finished parts beside ``out``; the same call continues from
    them. A finished ``out`` is left alone.

    Returns:
        The record of the vectors' origin.
    """
    kind = output_for(out)
    there = {} if force or source.once else kind.written(out)
    _check_places(out, source, kind, force or bool(there))
    manifest = read_head(model).manifest
    if manifest.contract.task != "embed":
        raise InputError(
            f"{model}: is made for the task {manifest.contract.task!r}, expected 'embed'; ask it "
            "by a client: polybake generate"
        )
    contract = prompt.contract(manifest.contract)
    runner = replace(machine.open(model).runner, contract=contract)
    output, parts = kind(source, contract.output), Parts(out, force)
    rows, digest = _surveyed(source, output)
    job = record(manifest, contract.default_prompt, machine.device, source, digest)
    if there:
        if changed := other_vectors(there, job):
            raise InputError(
                f"{out}: exists already, with other vectors: {changed}; choose another output, or "
                "overwrite it with --force"
            )
        _tell(console, f"{out} holds these vectors already")
        return there
    with parts.opened(job), _told(parts, console):
        windows = _windows(source, output)
        if rows is not None:
            windows = _unchanged(windows, source, rows)
        with tracked("embedding texts", rows, console) as advance:
            done = _embedded(windows, runner, output, parts, advance)
            sizes = [len(window) for window in done]
        whole = job | {"texts": {**job["texts"], "rows": sum(sizes)}}
        content = json.dumps(whole, indent=2).encode("ascii") + b"\n"
        with parts.whole({} if kind.holds_record else {record_of(out): content}) as file:
            output.join(file, parts.ended(len(sizes)), whole)
    return whole


def _check_places(out: Path, source: TextSource, kind: type[Output], force: bool) -> None:
    """Refuse to overwrite existing files without force, and the texts always."""
    if not source.once and out.exists() and source.path.exists() and out.samefile(source.path):
        raise InputError(f"{out}: holds the texts themselves; choose another output")
    beside = record_of(out)
    for path in (out,) if kind.holds_record else (out, beside):
        if path.is_dir():
            raise InputError(f"{path}: is a folder; choose another output")
        # A record without its file is left by a run that was stopped between the two.
        if path.exists() and not force and not (path == beside and read_record(path)):
            raise InputError(
                f"{path}: exists already; choose another output, or overwrite it with --force"
            )


def _surveyed(source: TextSource, output: Output) -> tuple[int | None, str | None]:
    """The rows of the corpus and its SHA-256; finds a damaged row before the long run."""
    if source.once:
        return None, None
    return sum(map(len, _windows(source, output, check=True))), source.sha256()


def _windows(source: TextSource, output: Output, *, check: bool = False) -> Iterator[Window]:
    """The corpus's windows, each with a text in every row."""
    for window in source.windows(whole=output.carries):
        if None in window.texts:
            row = window.place(window.texts.index(None))
            raise InputError(
                f"{source.name}: {row}: {source.column!r} is null; expected a text; "
                "fill it, or drop the row"
            )
        if output.carries and COLUMN in window.names:
            raise InputError(
                f"{source.name}: has a column {COLUMN!r} already; rename it, or write .npy"
            )
        if check:
            output.check(window)
        yield window


def _unchanged(windows: Iterator[Window], source: TextSource, rows: int) -> Iterator[Window]:
    """Give the windows of as many rows as were counted, neither fewer nor more."""
    total = 0
    for window in windows:
        total += len(window)
        if total > rows:
            break
        yield window
    if total != rows:
        raise InputError(
            f"{source.name}: had {rows} rows and then {total}; give a file that nobody writes to"
        )


@contextmanager
def _told(parts: Parts, console: Console) -> Iterator[None]:
    """Report which parts exist already, and where they stay if the run is interrupted."""
    if parts:
        _tell(console, f"going on after the {_counted(parts)} in {parts.folder}")
    try:
        yield
    except BaseException:
        if parts:
            are = "is" if len(parts) == 1 else "are"
            state = f"{_counted(parts)} {are} kept in {parts.folder}"
            _tell(console, f"{state}; the same command goes on")
        raise


def _tell(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _counted(parts: Parts) -> str:
    return "1 part" if len(parts) == 1 else f"{len(parts)} parts"


def _embedded(
    windows: Iterator[Window],
    runner: Runner,
    output: Output,
    parts: Parts,
    advance: Callable[[int], None],
) -> Iterator[Window]:
    """Give each window when its part is there."""
    for number, (window, rows) in enumerate(_tokenized(windows, runner, parts)):
        if rows is None:
            advance(len(window))
        else:
            vectors = runner.embed(rows.result(), progress=advance)
            if vectors.dtype == np.float32 and not np.isfinite(vectors).all():
                row = window.place(int(np.argmin(np.isfinite(vectors).all(axis=1))))
                raise CheckFailed(
                    f"{output.source.name}: {row}: its embedding holds NaN or infinity; "
                    "drop the row, or look for the cause with: polybake check MODEL"
                )
            with parts.writing(number, window) as file:
                output.write_part(file, window, vectors)
        yield window


def _tokenized(
    windows: Iterator[Window], runner: Runner, parts: Parts
) -> Iterator[tuple[Window, Future[list[list[int]]] | None]]:
    """Yield windows with token ids if their part is missing, made while the last window runs.

    The corpus is read by the calling thread: another thread could not be interrupted while it
    waits for standard input.
    """
    with ThreadPoolExecutor(1) as pool:
        waiting: list[tuple[Window, Future[list[list[int]]] | None]] = []
        for number, window in enumerate(windows):
            there = parts.has(number, window)
            texts = cast("Sequence[str]", window.texts)  # no row lacks its text
            waiting.append((window, None if there else pool.submit(runner.ids, texts)))
            if len(waiting) == 2:
                yield waiting.pop(0)
        yield from waiting
