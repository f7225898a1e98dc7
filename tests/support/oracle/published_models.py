"""The table of published models in docs/support.md: what becomes of each, and what it wants set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

REMEDY = "nox -s guards -- --write-models"

_BEGIN = "<!-- published models -->\n"
_END = "<!-- end of published models -->\n"
_SECTION = re.compile(f"{_BEGIN}.*{_END}", re.DOTALL)
#: What the section stands before.
_NEXT = "\n## Every proof\n"

_HEAD = f"""
## Published models

What becomes of models as they lie on the hub. Each was written in small, with the settings, the
tokenizer and the weights' names of its repository, and opened; its size is not looked at. What is
to be set stands in [polybake.toml](settings.md): `[prompts]` where
[only the model card names them](settings.md#sources). The session `guards` fails where a row is
not so, and `{REMEDY}` writes this table.

| model | becomes | with |
|---|---|---|
"""
_LINE = re.compile(r"^\| ([\w.-]+/[\w.-]+) \| (.*) \| (.*) \|$", re.MULTILINE)


class Row(NamedTuple):
    """A published model.

    Attributes:
        name: Its repository, ``owner/name``.
        becomes: The task that it bakes for, or why it is refused.
        setting: What is to be set; may be empty.
    """

    name: str
    becomes: str
    setting: str


def section(page: str) -> str:
    """The part of a page that holds the table, with its marks; empty where there is none."""
    found = _SECTION.search(page)
    return found[0] if found else ""


def with_rows(page: str, rows: Iterable[Row]) -> str:
    """A page with these rows in place of its own; all else stays as it is."""
    lines = [f"| {' | '.join(_cell(one) for one in row)} |\n" for row in _sorted(rows)]
    made = f"{_BEGIN}{_HEAD}{''.join(lines)}{_END}"
    if old := section(page):
        return page.replace(old, made)
    before, mark, after = page.partition(_NEXT)
    return f"{before}\n{made}{mark}{after}"


def parse(page: str) -> dict[str, Row]:
    """The rows of a page by their names."""
    return {line[0]: Row(*line) for line in _LINE.findall(section(page))}


def faults(found: Mapping[str, Row], committed: Mapping[str, Row], *, whole: bool) -> list[str]:
    """How the rows that were found differ from the committed ones, a line each.

    Args:
        found: Rows by name.
        committed: What the page says.
        whole: Every model was opened, so a committed row that none of them gave is left over.
    """
    shown = {name: Row(*map(_cell, row)) for name, row in found.items()}
    differ = [
        f"{_said(committed.get(name))} {name}; found {_said(row)}"
        for name, row in sorted(shown.items())
        if committed.get(name) != row
    ]
    left = sorted(committed.keys() - found.keys()) if whole else []
    return [*differ, *(f"has a row that no shape gave: {name}" for name in left)]


def _said(row: Row | None) -> str:
    return "has no row for" if row is None else " with ".join(filter(None, row[1:]))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _sorted(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row.name.lower())
