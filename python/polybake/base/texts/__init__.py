"""Large files of texts, read a window at a time; each kind of file is a source."""

from pathlib import Path

from polybake.base.texts.json_lines import JsonLines
from polybake.base.texts.source import TextSource
from polybake.base.texts.text_lines import TextLines
from polybake.errors import InputError, RequirementMissing, install

#: The path that means standard input, with one text per line.
STANDARD_INPUT = Path("-")

_FILES: dict[str, type[TextSource]] = {".txt": TextLines, ".jsonl": JsonLines}
#: Those that pyarrow reads.
_TABLES = (".csv", ".parquet")


def open_corpus(path: Path, column: str = "text") -> TextSource:
    """Open a file of texts, whose suffix decides the kind; ``column`` names the texts."""
    if path == STANDARD_INPUT:
        return TextLines(path, column)
    suffix = path.suffix.lower()
    if suffix not in (*_FILES, *_TABLES):
        raise InputError(
            f"{path}: is of no kind that is known by its suffix; choose one of: "
            f"{', '.join([*_FILES, *_TABLES])}, or pipe one text a line to -"
        )
    if not path.exists():
        raise InputError(
            f"{path}: cannot be read (no such file); give a UTF-8 file with one text a line"
        )
    if not path.is_file():
        raise InputError(f"{path}: is no regular file; give one, or pipe one text a line to -")
    return (_FILES.get(suffix) or _table(path, suffix))(path, column)


def _table(path: Path, suffix: str) -> type[TextSource]:
    try:
        from polybake.base.texts.tables import CsvFile, ParquetFile
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f"{path}: reading {suffix} needs the package pyarrow; "
            f"{install('parquet')}, or give a UTF-8 file with one text a line (.txt)"
        ) from error
    return CsvFile if suffix == ".csv" else ParquetFile
