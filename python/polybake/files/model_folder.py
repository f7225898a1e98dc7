"""A model's folder, which is not trusted: no file is read from outside it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from polybake.errors import InputError

_LICENCE = re.compile(r"^licen[sc]e:\s*[\"']?([\w.+-]{1,60})[\"']?\s*$", re.MULTILINE | re.ASCII)


@dataclass(frozen=True)
class ModelFolder:
    """Reads the files of one folder by name.

    Attributes:
        path: The folder.
        roots: Where a file may really lie: the folder, or the ``blobs`` of the Hugging Face
            cache whose snapshot it is.
    """

    path: Path
    roots: tuple[Path, ...]

    @classmethod
    def at(cls, path: Path) -> ModelFolder:
        """Open the folder ``path``."""
        caches = [parent.parent for parent in path.absolute().parents if parent.name == "snapshots"]
        roots = [path, *(cache / "blobs" for cache in caches)]
        return cls(path, tuple(root.resolve() for root in roots))

    def inner(self, name: str) -> ModelFolder:
        """The folder ``name`` inside this one; ``""`` is this one."""
        return ModelFolder(self._inside(name), self.roots)

    def file(self, name: str) -> Path | None:
        """The path of the file ``name``, or None when there is none.

        Raises:
            InputError: the name or a link leads out of the folder, or no file can have the name.
        """
        path = self._inside(name)
        try:
            if not path.is_file():
                return None
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}); name a file within the folder"
            ) from error
        if not any(path.resolve().is_relative_to(root) for root in self.roots):
            raise InputError(
                f"{path}: links to {path.resolve()}, outside the model's folder; "
                "put the file itself into the folder"
            )
        return path

    def json(self, name: str) -> object:
        """The parsed JSON file ``name``, or None when there is none.

        Raises:
            InputError: not JSON.
        """
        path = self.file(name)
        if path is None:
            return None
        try:
            return json.loads(path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: is not JSON ({error}); download it again") from error

    def settings(self, name: str) -> dict[str, object]:
        """The JSON object in the file ``name``; empty when there is no such file.

        Raises:
            InputError: not a JSON object.
        """
        value = self.json(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise InputError(f"{self.path / name}: expected a JSON object; download it again")
        return value

    def needed_settings(self, name: str) -> dict[str, object]:
        """The JSON object in the file ``name``.

        Raises:
            InputError: there is no such file, or not a JSON object in it.
        """
        if self.file(name) is None:
            raise InputError(f"{self.path}: has no {name}; download the whole model again")
        return self.settings(name)

    def licence(self) -> str | None:
        """The licence that README.md's front matter names, such as ``apache-2.0``."""
        readme = self.file("README.md")
        if readme is None:
            return None
        parts = readme.read_text("utf-8", "replace").split("---", 2)
        found = _LICENCE.search(parts[1]) if len(parts) == 3 and not parts[0].strip() else None
        return found[1] if found else None

    def _inside(self, name: str) -> Path:
        relative = PurePosixPath(name.replace("\\", "/"))
        if relative.is_absolute() or ".." in relative.parts or ":" in name or "\0" in name:
            raise InputError(
                f"{self.path}: {name!r} lies outside the model's folder; "
                "name a file within the folder"
            )
        return self.path / relative
