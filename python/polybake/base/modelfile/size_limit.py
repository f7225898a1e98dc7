"""How large one ONNX file may be."""

from pathlib import Path

from polybake.errors import InputError

#: Protobuf's own limit for one message, in bytes: 2 GiB - 1.
LARGEST_FILE = 2**31 - 1


def check_size(size: int, path: Path) -> None:
    """Refuse a file that protobuf could not hold, before a byte of it is written."""
    if size > LARGEST_FILE:
        raise InputError(
            f"{path}: would have {size} bytes, and one ONNX file holds at most {LARGEST_FILE}; "
            "choose a smaller model"
        )
