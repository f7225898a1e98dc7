"""The kinds of files that vectors are written to."""

from pathlib import Path

from polybake.bulk.embed.outputs.json_lines import JsonLinesOutput
from polybake.bulk.embed.outputs.npy import NpyOutput
from polybake.bulk.embed.outputs.output import Output
from polybake.errors import InputError, RequirementMissing, install

_KINDS: dict[str, type[Output]] = {".npy": NpyOutput, ".jsonl": JsonLinesOutput}
_PARQUET = ".parquet"


def output_for(path: Path) -> type[Output]:
    """Return the class that writes the file; its suffix decides the kind."""
    suffix = path.suffix.lower()
    if suffix in _KINDS:
        return _KINDS[suffix]
    if suffix != _PARQUET:
        known = ", ".join([_PARQUET, *_KINDS])
        raise InputError(f"{path}: vectors are not written to such a file; choose one of: {known}")
    try:
        from polybake.bulk.embed.outputs.parquet import ParquetOutput
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f"{path}: writing Parquet needs the package pyarrow; "
            f"{install('parquet')}, or write .npy or .jsonl"
        ) from error
    return ParquetOutput
