"""Files with a JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from polybake.base.texts.source import TextSource
from polybake.base.texts.text_lines import text_lines
from polybake.base.texts.window import ObjectWindow, cut
from polybake.errors import InputError

if TYPE_CHECKING:
    import pyarrow


class _Line(NamedTuple):
    text: str | None
    row: dict[str, Any]
    written: str


@dataclass(frozen=True)
class JsonLines(TextSource):
    """A UTF-8 file of JSON objects, each of which has the texts' key.

    pyarrow reads such files, too: it makes timestamps of texts that look like dates, and takes no
    row whose keys or types are others than those of the first block. Here rows stay as written.
    """

    def windows(self, *, whole: bool = False) -> Iterator[ObjectWindow]:  # noqa: ARG002
        """Give the rows with all keys."""
        with self._opened() as file:
            first = 1
            entries = (self._read(*line) for line in enumerate(text_lines(file, self.name), 1))
            for lines in cut((line, len(line.written)) for line in entries):
                texts, rows, sources = zip(*lines, strict=True)
                places = range(first, first + len(lines))
                yield ObjectWindow(texts, places, rows=rows, lines=sources)
                first += len(lines)

    def schema(self) -> pyarrow.Schema:
        """Return the keys of all objects, in order of first occurrence, with their types."""
        import pyarrow

        schema = pyarrow.schema([(self.column, pyarrow.string())])
        order: dict[str, None] = {}
        for window in self.windows():
            order |= dict.fromkeys(window.names)
            try:
                # From dictionaries Arrow finds the types of all rows' keys, for a table only those
                # of the first row's keys.
                fields = [*pyarrow.array(window.rows).type]
                schema = pyarrow.unify_schemas(
                    [schema, pyarrow.schema(fields)], promote_options="permissive"
                )
            except (pyarrow.ArrowException, OverflowError, UnicodeError) as error:
                raise InputError(
                    f"{self.name}: {window.place(0)} to {window.places[-1]}: a key has values "
                    f"that one column cannot hold ({' '.join(str(error).split())}); "
                    "write .jsonl, or give values of one type"
                ) from error
        return pyarrow.schema([schema.field(name) for name in order or schema.names])

    def _read(self, number: int, line: str) -> _Line:
        origin = f"{self.name}: line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{origin}: is not JSON ({error}); give one object a line, and no empty line"
            ) from error
        if not isinstance(row, dict):
            raise InputError(f"{origin}: is no JSON object; give one with a {self.column!r}")
        if self.column not in row:
            raise InputError(
                f"{origin}: has no {self.column!r}; choose one of: {', '.join(row) or 'nothing'}"
            )
        text = row[self.column]
        if not isinstance(text, str | None):
            raise InputError(
                f"{origin}: {self.column!r} holds {json.dumps(text)[:80]}; expected a text"
            )
        if text is not None and not _is_unicode(text):
            raise InputError(
                f"{origin}: {self.column!r} is not valid Unicode, as it holds half a surrogate "
                "pair; repair or drop the line"
            )
        return _Line(text, row, line.strip())


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
