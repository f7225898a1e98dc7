"""Files of texts that workers embed, each into its own file of vectors."""

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
    """The result for a file: its Parquet file, how many rows, and whether it existed already."""

    texts: Path
    vectors: Path
    rows: int
    skipped: bool


@dataclass(frozen=True)
class FileJob:
    """A file to be embedded by any worker with the same file system.

    Attributes:
        texts: The file of texts.
        out: The Parquet file to write.
        model: The model file that workers open.
        column: The column of texts.
        force: Whether to replace an existing file with other vectors.
    """

    texts: Path
    out: Path
    model: ModelFile
    column: str
    force: bool

    def run(self) -> Embedded | PolybakeError:
        """Embed the file, or continue an interrupted run, unless its vectors exist already.

        Returns:
            The result, or an error that every worker would meet: if it were raised, the engine
            would try again.
        """
        try:
            self.model.runner()  # nothing is written if this worker has another model
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
        """Return whether the existing file holds these vectors."""
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
    """Return a job for each file; its vectors go to the folder, under the file's stem.

    Raises:
        InputError: There are no files, a file is missing or of an unknown kind, or two files
            have the same stem.
    """
    by_output: dict[Path, FileJob] = {}
    for file in files:
        texts = Path(file).absolute()
        open_corpus(texts, column)
        out = Path(folder).absolute() / f"{texts.stem}.parquet"
        if out in by_output:
            raise InputError(
                f"{texts}: goes to {out}, as {by_output[out].texts} does; "
                "rename one, or give them different folders"
            )
        by_output[out] = FileJob(texts, out, model, column, force)
    if not by_output:
        raise InputError("there are no files of texts; give at least one")
    return [*by_output.values()]


def finished(results: Iterable[Embedded | PolybakeError]) -> list[Embedded]:
    """Return the results of all files, when all have ended.

    Raises:
        PolybakeError: The first error, with the number of the others.
    """
    ended = [*results]
    errors = [result for result in ended if isinstance(result, PolybakeError)]
    if errors:
        more = f" (and {len(errors) - 1} more of {len(ended)} files)" if len(errors) > 1 else ""
        raise type(errors[0])(f"{errors[0]}{more}")
    return [result for result in ended if isinstance(result, Embedded)]
