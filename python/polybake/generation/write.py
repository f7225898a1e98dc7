"""Write rendered files, and never lose changes made by hand."""

import hashlib
import json
import subprocess
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

#: Commits of a file that are looked through for what was generated.
_COMMITS = 50


@dataclass(frozen=True)
class Changes:
    """The changes of a fresh render to a client's folder, by path below the folder.

    Attributes:
        folder: The client's folder.
        written: Files that the render changes, or that are missing.
        unchanged: Files that are as rendered.
        removed: Files of an earlier render that this one does not have.
        edited: Files that a person changed since they were rendered, and that stay so.
    """

    folder: Path
    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...] = ()


def changes(
    folder: Path,
    files: Mapping[str, str | bytes],
    project_files: frozenset[str],
    *,
    force: bool = False,
    keep: bool = False,
) -> Changes:
    """Compare a client's folder with a fresh render.

    A file that a person has changed stays as it is while its render is the one that was written
    before, and a project file stays always; with ``force`` both are written. A project file that no
    record knows is its owner's, too. Files of an earlier render that this one does not have are
    removed.
    """
    generated = _read_record(folder, force)
    record = _read_record(folder, force, "project") | generated
    written, unchanged, edited = [], [], []
    for path in sorted(files):
        fresh, here = _digest(files[path]), _digest_of(folder / path)
        if here == fresh:
            unchanged.append(path)
        elif force or here in (None, record.get(path)):
            written.append(path)
        elif keep or path in project_files or record.get(path) == fresh:
            edited.append(path)
        else:
            written.append(path)
    removed = [path for path in generated if path not in files and (folder / path).is_file()]
    return Changes(folder, tuple(written), tuple(unchanged), tuple(removed), tuple(edited))


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
    keep: bool = False,
) -> Changes:
    """Write a client, and remove files no longer rendered; for the arguments see `changes`.

    The record keeps ``parts``, which the client has, and the ``contract`` that it is for.
    """
    done = changes(folder, files, project_files, force=force, keep=keep)
    known = _read_record(folder, force, "project")
    record = known | _read_record(folder, force)
    for path in (*done.written, *done.removed):
        if not force and _digest_of(folder / path) not in (None, record.get(path)):
            raise InputError(_conflict(folder / path, files.get(path, ""), record.get(path)))
    for path in done.removed:
        (folder / path).unlink()
    rendered = sorted({*done.written, *done.unchanged, *(set(done.edited) - project_files)})
    digests = {path: _digest(files[path]) for path in rendered}
    of_project = known | {path: digests.pop(path) for path in project_files & digests.keys()}
    contents = {path: files[path] for path in done.written}
    facts = {
        "generator": __version__,
        "parts": list(parts),
        "contract": contract,
        "files": digests,
        "project": dict(sorted(of_project.items())),
    }
    contents[RECORD] = json.dumps(facts, indent=2) + "\n"
    for path, content in contents.items():
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


def _conflict(path: Path, fresh: str | bytes, recorded: str | None) -> str:
    """Say that a file and its render both changed, each apart where Git has what was written."""
    message = (
        f"{path}: was changed by hand, and what is generated changed, too; take over what changed "
        "by hand and say so with --keep-edited, or lose your change with --force:\n"
    )
    if isinstance(fresh, bytes):
        return f"{message}its bytes differ"
    mine = path.read_text(encoding="utf-8", errors="replace")
    before = None if recorded is None else _committed(path, recorded)
    if before is None:
        return message + _difference(mine, fresh, "yours", "generated now")
    yours = _difference(before, mine, "generated before", "yours")
    return f"{message}{yours}\n{_difference(before, fresh, 'generated before', 'generated now')}"


def _committed(path: Path, digest: str) -> str | None:
    """The version of a file with a digest, if one of its latest commits has it."""
    here = ["git", "-C", str(path.parent)]
    log = [*here, "log", f"-{_COMMITS}", "--format=%H", "--", path.name]
    try:
        listed = subprocess.run(log, capture_output=True, check=True).stdout  # noqa: S603
        for commit in listed.decode().split():
            show = [*here, "show", f"{commit}:./{path.name}"]
            content = subprocess.run(show, capture_output=True, check=False).stdout  # noqa: S603
            if _digest(content) == digest:
                return content.decode("utf-8", "replace")
    except (OSError, subprocess.CalledProcessError):
        pass  # there is no Git, or no repository
    return None


def _difference(before: str, after: str, named: str, then: str) -> str:
    """What changed, at most ``_SHOWN`` lines of it."""
    lines = list(unified_diff(before.splitlines(), after.splitlines(), named, then, lineterm=""))
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
