"""The finished parts of a file that is not whole yet, which outlive the process that made them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from polybake.base.files.atomic import replacing
from polybake.base.files.exclusive import exclusive
from polybake.base.texts.window import Window
from polybake.bulk.embed.record import difference
from polybake.errors import InputError

_JOB = "job.json"
_WHOLE = "whole"
_ABOUT = "parts of {name}, which polybake embed is writing; the same command goes on with them"
_PART = re.compile(r"(\d{6,})-[0-9a-f]{32}\.[a-z]+")
_TEMPORARY = re.compile(r"\..+\.tmp")


@dataclass(frozen=True)
class Parts:
    """The folder of a file's parts, beside the file, with its name and ``.parts``.

    A part's name holds its number and the digest of its texts, and a part is written whole or not
    at all. So the folder shows what is done already, and a part is never used for other texts.

    Attributes:
        out: The file that is being written.
        force: Whether parts of another job are deleted; else they are refused.
    """

    out: Path
    force: bool = False
    _found: dict[int, Path] = field(default_factory=dict, repr=False)

    @property
    def folder(self) -> Path:
        """The folder of the parts."""
        return self.out.with_name(f"{self.out.name}.parts")

    @contextmanager
    def opened(self, job: Mapping[str, Any]) -> Iterator[None]:
        """Continue with the parts of this job; if none are left in the end, remove the folder."""
        with exclusive(self.folder):
            self._take_up(job)
            try:
                yield
            finally:
                if not self._found:
                    self._remove()

    def __len__(self) -> int:
        return len(self._found)

    def has(self, number: int, window: Window) -> bool:
        """Return whether a part exists already."""
        if number not in self._found:
            return False
        if self._found[number].name == self._name(number, window):
            return True
        self._drop_from(
            number,
            f"part {number} was made of other texts than {window.place(0)} and those after it",
        )
        return False

    @contextmanager
    def writing(self, number: int, window: Window) -> Iterator[BinaryIO]:
        """Open a part, which is there when the block succeeds."""
        path = self.folder / self._name(number, window)
        with replacing(path) as file:
            yield file
        self._found[number] = path

    def ended(self, count: int) -> list[Path]:
        """Return the files of ``count`` parts, in order; further parts are refused or deleted."""
        if len(self._found) > count:
            self._drop_from(count, "they hold more texts than there are")
        return [self._found[number] for number in range(count)]

    @contextmanager
    def whole(self, beside: Mapping[Path, bytes]) -> Iterator[BinaryIO]:
        """Open the file for writing; when the block succeeds, put it in place and drop the parts.

        The file is written among the parts, so that a killed process leaves nothing elsewhere.
        """
        staged = self._staged(self.out)
        with replacing(staged) as file:
            yield file
        for path, content in beside.items():
            with replacing(self._staged(path)) as file:
                file.write(content)
            self._staged(path).replace(path)
        staged.replace(self.out)
        self._found.clear()

    def _remove(self) -> None:
        for path in self._ours():
            path.unlink()
        with suppress(OSError):  # somebody put something else there
            self.folder.rmdir()

    def _staged(self, path: Path) -> Path:
        return self.folder / f"{_WHOLE}{path.suffix}"

    def _name(self, number: int, window: Window) -> str:
        return f"{number:06d}-{window.digest()[:32]}{self.out.suffix.lower()}"

    def _ours(self) -> list[Path]:
        return [
            path
            for path in self.folder.iterdir()
            if _PART.fullmatch(path.name)
            or _TEMPORARY.fullmatch(path.name)
            or path.name == _JOB
            or path.stem == _WHOLE
        ]

    def _take_up(self, job: Mapping[str, Any]) -> None:
        ours = self._ours()
        foreign = {*self.folder.iterdir()} - {*ours}
        if foreign and self.folder / _JOB not in ours:
            raise InputError(
                f"{self.folder}: is needed for the parts of {self.out.name}, and holds "
                f"{min(foreign).name}; move it away"
            )
        for path in ours:
            if match := _PART.fullmatch(path.name):
                self._found[int(match[1])] = path
            elif path.name != _JOB:
                path.unlink()
        if self._found and (changed := difference(self._job(), job)):
            self._drop_from(0, changed)
        with replacing(self.folder / _JOB) as file:
            about = {"about": _ABOUT.format(name=self.out.name)}
            file.write(json.dumps({**about, **job}, indent=2).encode("ascii") + b"\n")

    def _job(self) -> dict[str, Any]:
        try:
            job = json.loads((self.folder / _JOB).read_text(encoding="ascii"))
        except (OSError, ValueError):
            job = None
        return job if isinstance(job, dict) else {}

    def _drop_from(self, first: int, reason: str) -> None:
        if not self.force:
            raise InputError(
                f"{self.folder}: holds parts of another job: {reason}; go on with the command that "
                "began it, or throw them away with --force"
            )
        for number in [number for number in self._found if number >= first]:
            self._found.pop(number).unlink()
