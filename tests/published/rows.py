"""The rows that a shape gives docs/support.md."""

from __future__ import annotations

import json
import re

from polybake.base.files.published_models import published
from published.end import End
from published.shape import Shape
from support.oracle.published_models import Row

#: Owners of folders that are no repository's.
_MADE_UP = "example/"
#: Characters of a refusal that are shown.
_LONGEST = 110


def rows_of(shape: Shape, end: End, message: str) -> list[Row]:
    """A row for each of its repositories; none for a folder that is no repository's.

    Args:
        shape: The shape.
        end: What became of it.
        message: The words of the refusal, with the folder's name alone for its path.
    """
    folder = shape.repository.replace("/", "--")
    becomes = end.task or f"refused: {_shortened(re.sub(f'{folder}(/|: )?', '', message))}"
    return [Row(name, becomes, ", ".join(_settings(name, shape, end))) for name in names_of(shape)]


def names_of(shape: Shape) -> list[str]:
    """The repositories that have the shape."""
    names = [shape.repository, *shape.also]
    return [name for name in names if not name.startswith(_MADE_UP)]


def _settings(name: str, shape: Shape, end: End) -> list[str]:
    found = [f"`{key} = {json.dumps(value)}`" for key, value in shape.table.items()]
    if end.assumes:
        found.append("`[[steps]]`, else the mean")
    known = published(name)
    if end.lacks_prompts and known is not None and known.prompts:
        found.append("`[prompts]`")
    return found


def _shortened(message: str) -> str:
    """The fault without its remedy."""
    fault = re.split(r"; | \(|, (?:and|(?:through )?which) ", message, maxsplit=1)[0]
    if len(fault) <= _LONGEST:
        return fault
    return f"{fault[: fault.rindex(' ', 0, _LONGEST)]} …"
