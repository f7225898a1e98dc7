"""Write rendered files, and never lose changes made by hand."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from pydantic import JsonValue

from polybake import __version__
from polybake.base.files.atomic import replacing
from polybake.errors import InputError

RECORD = ".polybake.json"

#: Lines of a difference that are shown.
_SHOWN = 40


@dataclass(frozen=True)
class Changes:
    """The changes of a fresh render to a client's folder, by path below the folder."""

    folder: Path
    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


def changes(
    folder: Path,
    files: Mapping[str, str | bytes],
    project_files: frozenset[str],
    *,
    force: bool = False,
) -> Changes:
    """Compare a client's folder with a fresh render.

    A project file that its owner has changed, or that no record knows, changes only with ``force``.
    Files of an earlier render that this render does not have are removed.

    Args:
        folder: The client's folder.
        files: Text, or bytes, by path below ``folder``.
        project_files: The paths that belong to the client's owner once they are changed.
        force: Also overwrite files that were changed by hand, with project files.

    Raises:
        InputError: The record of generated files is damaged, and ``force`` is off.
    """
    known = _read_record(folder, force, "project")
    fresh = {path: _digest_of(folder / path) == _digest(files[path]) for path in sorted(files)}
    kept = {
        path
        for path in project_files.intersection(files)
        if not (force or fresh[path]) and _digest_of(folder / path) not in (None, known.get(path))
    }
    return Changes(
        folder,
        written=tuple(path for path in fresh if not fresh[path] and path not in kept),
        unchanged=tuple(path for path in fresh if fresh[path] and path not in kept),
        removed=tuple(
            path
            for path in _read_record(folder, force)
            if path not in files and (folder / path).is_file()
        ),
    )


def recorded_parts(folder: Path) -> tuple[str, ...]:
    """The parts that a client was last written with; none where no record says so."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return tuple(map(str, record.get("parts", ())))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return ()


def recorded_contract(folder: Path) -> JsonValue:
    """The contract that a client was last written for; None where no record says so."""
    try:
        contract: JsonValue = json.loads((folder / RECORD).read_text(encoding="utf-8"))["contract"]
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return contract


def write_client(
    folder: Path,
    files: Mapping[str, str | bytes],
    project_files: frozenset[str],
    *,
    parts: Sequence[str] = (),
    contract: JsonValue = None,
    force: bool = False,
) -> Changes:
    """Write a client, and remove files no longer rendered; for the arguments see `changes`.

    The record keeps ``parts``, which the client has, and the ``contract`` that it is for.

    Raises:
        InputError: A generated file was changed by hand, or the record is damaged, and ``force`` is
            off; nothing is written.
    """
    done = changes(folder, files, project_files, force=force)
    known = _read_record(folder, force, "project")
    record = known | _read_record(folder, force)
    for path in (*done.written, *done.removed):
        if not force and _digest_of(folder / path) not in (None, record.get(path)):
            raise InputError(
                f"{folder / path}: was changed by hand since it was generated; "
                "move the change to a template (--templates), or lose it with --force:\n"
                f"{_difference(folder / path, files.get(path, ''))}"
            )
    for path in done.removed:
        (folder / path).unlink()
    digests = {path: _digest(files[path]) for path in sorted((*done.written, *done.unchanged))}
    of_project = known | {path: digests.pop(path) for path in project_files & digests.keys()}
    written = {path: files[path] for path in done.written}
    told = {
        "generator": __version__,
        "parts": list(parts),
        "contract": contract,
        "files": digests,
        "project": dict(sorted(of_project.items())),
    }
    written[RECORD] = json.dumps(told, indent=2) + "\n"
    for path, content in written.items():
        with replacing(folder / path) as file:
            file.write(_bytes(content))
    return done


def _read_record(folder: Path, force: bool, part: str = "files") -> dict[str, str]:
    """Digests by path, as the client was last written; an earlier version had no ``project``."""
    try:
        record = {"project": {}} | json.loads((folder / RECORD).read_text(encoding="utf-8"))
        files = {str(path): str(digest) for path, digest in record[part].items()}
        for path in files:
            if not (folder / path).resolve().is_relative_to(folder.resolve()):
                raise ValueError(f"{path} lies outside the folder")
        return files
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if force:
            return {}
        raise InputError(
            f"{folder / RECORD}: is damaged; restore it, or write every file anew with: "
            "polybake generate --force"
        ) from error


def _difference(path: Path, fresh: str | bytes) -> str:
    """What writing ``fresh`` would change, at most ``_SHOWN`` lines of it."""
    if isinstance(fresh, bytes):
        return "its bytes differ"
    mine = path.read_text(encoding="utf-8", errors="replace").splitlines()
    lines = list(unified_diff(mine, fresh.splitlines(), "yours", "generated", lineterm=""))
    more = [f"... and {len(lines) - _SHOWN} lines more"] if len(lines) > _SHOWN else []
    return "\n".join(lines[:_SHOWN] + more)


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(_bytes(content)).hexdigest()


def _digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
