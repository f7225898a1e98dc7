"""Write rendered files, and never lose what a person changed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from polybake import __version__
from polybake.errors import InputError
from polybake.files.atomic import replacing

RECORD = ".polybake.json"


@dataclass(frozen=True)
class Written:
    """What one client's generation did, by path."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


def write_client(
    folder: Path, files: dict[str, str], project_files: frozenset[str], *, force: bool = False
) -> Written:
    """Write a client; project files only where there are none yet.

    Args:
        files: text by path below ``folder``.
        project_files: the paths that belong to the client's owner once written.
        force: also overwrite what was changed by hand, project files included.

    Raises:
        InputError: a generated file was changed by hand and ``force`` is off; nothing is written.
    """
    recorded = _read_record(folder)
    generated = {path: text for path, text in files.items() if force or path not in project_files}
    generated |= {path: text for path, text in files.items() if not (folder / path).exists()}
    stale = [path for path in recorded if path not in files and (folder / path).is_file()]
    if not force:
        _refuse_changed(folder, [*generated, *stale], recorded, files)
    written, unchanged = [], []
    for path, text in sorted(generated.items()):
        if _digest_of(folder / path) == _digest(text):
            unchanged.append(path)
            continue
        with replacing(folder / path) as file:
            file.write(text.encode("utf-8"))
        written.append(path)
    for path in stale:
        (folder / path).unlink()
    _write_record(folder, {path: text for path, text in files.items() if path not in project_files})
    return Written(tuple(written), tuple(unchanged), tuple(stale))


def stale_files(folder: Path, files: dict[str, str], project_files: frozenset[str]) -> list[str]:
    """The generated files that differ from a fresh render, are missing, or no longer rendered."""
    differing = [
        path
        for path, text in files.items()
        if path not in project_files and _digest_of(folder / path) != _digest(text)
    ]
    left = [path for path in _read_record(folder) if path not in files and (folder / path).exists()]
    return sorted(differing + left)


def _refuse_changed(
    folder: Path, paths: list[str], recorded: dict[str, str], files: dict[str, str]
) -> None:
    for path in paths:
        found = _digest_of(folder / path)
        fresh = _digest(files[path]) if path in files else None
        if found is not None and found not in (recorded.get(path), fresh):
            raise InputError(
                f"{folder / path}: was changed by hand since it was generated; "
                "move the change to a template (--templates) or overwrite it with --force"
            )


def _read_record(folder: Path) -> dict[str, str]:
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        files = {str(path): str(digest) for path, digest in record["files"].items()}
        for path in files:
            if not (folder / path).resolve().is_relative_to(folder.resolve()):
                raise ValueError(f"{path} lies outside the folder")
        return files
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, AttributeError) as error:
        raise InputError(
            f"{folder / RECORD}: is damaged; restore it or generate with --force"
        ) from error


def _write_record(folder: Path, files: dict[str, str]) -> None:
    digests = {path: _digest(text) for path, text in sorted(files.items())}
    text = json.dumps({"generator": __version__, "files": digests}, indent=2) + "\n"
    with replacing(folder / RECORD) as file:
        file.write(text.encode("utf-8"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
