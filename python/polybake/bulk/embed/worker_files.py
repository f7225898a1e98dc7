"""Files of texts that workers embed, each into a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pyarrow import parquet
from rich.console import Console

from polybake.base.texts import open_corpus
from polybake.base.texts.source import TextSource
from polybake.bulk.embed.embed import embed
from polybake.bulk.embed.model_file import ModelFile, OneCore
from polybake.bulk.embed.outputs.parquet import ParquetOutput
from polybake.bulk.embed.record import other_vectors, record
from polybake.errors import InputError, PolybakeError


class Embedded(NamedTuple):
    """What became of a file: its Parquet file, the rows in it, and whether it was there already."""

    texts: Path
    vectors: Path
    rows: int
    skipped: bool


@dataclass(frozen=True)
class FileJob:
    """One file, to be embedded by any worker that has the same file system.

    Attributes:
        texts: The file.
        out: The Parquet file to be written.
        model: What workers open.
        column: The texts' column.
        force: Replace what is there, if it was made otherwise.
    """

    texts: Path
    out: Path
    model: ModelFile
    column: str
    force: bool

    def run(self) -> Embedded | PolybakeError:
        """Embed the file, or go on where a worker was ended, unless its vectors are there.

        Returns:
            What became of it, or the error that every worker would meet: raised, it would make an
            engine try again.
        """
        try:
            self.model.runner()  # where this worker has another model, nothing is written
            source = open_corpus(self.texts, self.column)
            skipped = self.out.exists() and self._is_done(source)
            if not skipped:
                embed(
                    self.model.path,
                    source,
                    self.out,
                    prompt=self.model.prompt,
                    machine=OneCore(),
                    force=self.force,
                    console=Console(quiet=True),
                )
        except PolybakeError as error:
            return error
        return Embedded(self.texts, self.out, parquet.read_metadata(self.out).num_rows, skipped)

    def _is_done(self, source: TextSource) -> bool:
        """Whether the file that is there holds these vectors.

        Raises:
            InputError: it holds others, and they are not to be replaced.
        """
        wanted = record(self.model.manifest, self.model.prompt_name, "cpu", source, source.sha256())
        changed = other_vectors(ParquetOutput.written(self.out), wanted)
        if changed and not self.force:
            raise InputError(
                f"{self.out}: holds something else: {changed}; choose another folder, or replace "
                "it with force=True"
            )
        return not changed


def jobs(
    files: Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    model: ModelFile,
    *,
    column: str,
    force: bool,
) -> list[FileJob]:
    """One job for each file, whose vectors go to the folder under the file's stem.

    Raises:
        InputError: no file, one that is of no known kind or not there, or two of one stem.
    """
    found: dict[Path, FileJob] = {}
    for file in files:
        texts = Path(file).absolute()
        open_corpus(texts, column)
        out = Path(folder).absolute() / f"{texts.stem}.parquet"
        if out in found:
            raise InputError(
                f"{texts}: goes to {out}, as {found[out].texts} does; "
                "rename one, or give them different folders"
            )
        found[out] = FileJob(texts, out, model, column, force)
    if not found:
        raise InputError("there are no files of texts; give at least one")
    return [*found.values()]


def finished(results: Iterable[Embedded | PolybakeError]) -> list[Embedded]:
    """What became of each file, when all have come to their end.

    Raises:
        PolybakeError: the first error, with how many more there are.
    """
    ended = [*results]
    errors = [result for result in ended if isinstance(result, PolybakeError)]
    if errors:
        more = f" (and {len(errors) - 1} more of {len(ended)} files)" if len(errors) > 1 else ""
        raise type(errors[0])(f"{errors[0]}{more}")
    return [result for result in ended if isinstance(result, Embedded)]
