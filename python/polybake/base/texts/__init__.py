"""Large files of texts, read a window at a time; each kind of file is a source."""

from pathlib import Path

from polybake.base.texts.csv_file import CsvFile
from polybake.base.texts.json_lines import JsonLines
from polybake.base.texts.source import TextSource
from polybake.base.texts.text_lines import TextLines
from polybake.errors import InputError, RequirementMissing, install

#: The path that means standard input, with one text per line.
STANDARD_INPUT = Path("-")

_FILES: dict[str, type[TextSource]] = {".txt": TextLines, ".jsonl": JsonLines, ".csv": CsvFile}
_PARQUET = ".parquet"


def open_corpus(path: Path, column: str = "text") -> TextSource:
    """Open a file of texts; its suffix decides the kind.

    Args:
        path: The file.
        column: The column, or the key in JSON, with the texts; also the name for plain texts.

    Raises:
        InputError: There is no such file, or its kind is unknown.
        RequirementMissing: It is a Parquet file, and pyarrow is not installed.
    """
    if path == STANDARD_INPUT:
        return TextLines(path, column)
    suffix = path.suffix.lower()
    if suffix not in (*_FILES, _PARQUET):
        raise InputError(
            f"{path}: is of no kind that is known by its suffix; choose one of: "
            f"{', '.join([*_FILES, _PARQUET])}, or pipe one text a line to -"
        )
    if not path.exists():
        raise InputError(
            f"{path}: cannot be read (no such file); give a UTF-8 file with one text a line"
        )
    if not path.is_file():
        raise InputError(f"{path}: is no regular file; give one, or pipe one text a line to -")
    kind = _FILES.get(suffix) or _parquet(path)
    return kind(path, column)


def _parquet(path: Path) -> type[TextSource]:
    try:
        from polybake.base.texts.parquet_file import ParquetFile
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f"{path}: reading Parquet needs the package pyarrow; "
            f"{install('parquet')}, or give a UTF-8 file with one text a line"
        ) from error
    return ParquetFile
