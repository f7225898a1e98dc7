"""``hub:owner/name@revision``, which may replace the path of any model folder."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from polybake.errors import InputError

_PREFIX = "hub:"
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_REFERENCE = re.compile(
    rf"{_PREFIX}(?P<owner>{_PART})/(?P<name>{_PART})(?:@(?P<revision>\w[\w./+-]*))?", re.ASCII
)


@dataclass(frozen=True)
class HubReference:
    """A model repository of the Hugging Face hub.

    Attributes:
        revision: A branch, a tag or a commit; None is the default branch.
    """

    owner: str
    name: str
    revision: str | None = None

    @property
    def repository(self) -> str:
        """``owner/name``."""
        return f"{self.owner}/{self.name}"

    def __str__(self) -> str:
        at = f"@{self.revision}" if self.revision else ""
        return f"{_PREFIX}{self.repository}{at}"


def repository_of(identifier: str) -> str:
    """``owner/name`` of a source's identifier, if it is of the hub; else the folder's name."""
    return identifier.removeprefix(_PREFIX).partition("@")[0]


def parse_source(given: str | os.PathLike[str]) -> HubReference | Path:
    """Return a repository if ``given`` begins with ``hub:``, else a path."""
    path = Path(given)
    text = path.as_posix()
    if not text.startswith(_PREFIX):
        return path
    match = _REFERENCE.fullmatch(text)
    if match is None or ".." in text:
        raise InputError(
            f"{text}: names no repository; expected hub:owner/name or "
            "hub:owner/name@revision; a folder of this name is given by its absolute path"
        )
    return HubReference(**match.groupdict())
