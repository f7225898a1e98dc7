"""Cases that are written in the folder ``cases``: what is refused, its message, and what helps.

The blocks of a file are apart by an empty line. A block begins with a model of
`remedies.models` and the name of a refusal. A line with ``-`` is what is wrong, one with ``?`` the
regular expression of the message, and each with ``+`` one way that the remedy names. Such a line
sets keys of polybake.toml, or keys of the model's files, of which null removes one; what is wrong
in a file stays there until a way changes it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.folders.messages import CHATML

FOLDER = Path(__file__).parent / "cases"

#: What a line may hold in capitals.
_MEANT = {
    "LONGEST": "a" * 300_000,
    "LONG": "a" * 32_768,
    "CHATML": json.dumps(CHATML),
    "MEAN": '{step = "pool", mode = "mean"}',
    "ROUTES": '{query = [{step = "pool", mode = "cls"}], document = [MEAN]}',
}


@dataclass(frozen=True)
class Case:
    """A block of a file.

    Attributes:
        model: The name of its model.
        name: The name of the refusal.
        wrong: The line with ``-``.
        message: The line with ``?``.
        rights: The lines with ``+``.
    """

    model: str
    name: str
    wrong: str
    message: str
    rights: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def cases() -> Iterator[Case]:
    """Every case of the folder."""
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text("utf-8").strip().split("\n\n"):
            first, *lines = block.split("\n")
            model, _, name = first.partition(": ")
            said = [(line[0], line[2:]) for line in lines]
            assert [sign for sign, _ in said[:2]] == ["-", "?"], block
            rights = tuple(line for sign, line in said[2:] if sign == "+")
            assert len(rights) == len(said) - 2 > 0, block
            yield Case(model, name, said[0][1], said[1][1], rights)


def done(line: str, folder: Path) -> dict[str, Any]:
    """Change the files of a folder as a line says; return the keys of polybake.toml."""
    settings: dict[str, Any] = {}
    for part in filter(None, line.split(" | ")):
        for word in ("ROUTES", "MEAN", "LONGEST", "LONG", "CHATML"):
            part = re.sub(rf"\b{word}\b", lambda _, word=word: _MEANT[word], part)  # type: ignore[misc]
        if named := re.match(r"([\w./]+): ", part):
            _change(folder / named[1], json.loads(part[named.end() :]))
        else:
            settings |= tomllib.loads(part)
    return settings


def _change(path: Path, value: Any) -> None:
    if value is None:
        path.unlink()
    elif isinstance(value, str):
        path.write_text(value, encoding="utf-8")
    else:
        before = json.loads(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(json.dumps(_merged(before, value)), encoding="utf-8")


def _merged(before: Any, changes: Any) -> Any:
    """Objects keep their other keys; null removes one, and ``"NULL"`` is null."""
    if not isinstance(changes, dict) or not isinstance(before, dict):
        return None if changes == "NULL" else changes
    merged = before | {key: _merged(before.get(key), one) for key, one in changes.items()}
    return {key: one for key, one in merged.items() if changes.get(key, one) is not None}
