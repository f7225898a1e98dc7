"""The lines of a UTF-8 file, each judged by its number."""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from polybake.errors import InputError

#: The most bytes of a line. Else a file without line breaks, such as a picture, is read whole.
LONGEST_LINE = 2**26


def text_lines(file: BinaryIO, name: str) -> Iterator[str]:
    r"""Give each line with its line break, which is ``\n`` or ``\r\n``.

    Not ``splitlines``: a text may hold U+2028, a form feed and the like. A byte order mark at the
    beginning, as editors on Windows write it, is no part of the first line.

    Args:
        file: The file.
        name: The file's name in messages.

    Raises:
        InputError: A line is too long, or not UTF-8.
    """
    lines = iter(partial(file.readline, LONGEST_LINE + 1), b"")
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"{name}: line {number} has more than {LONGEST_LINE} bytes; "
                "give one text a line, and cut what is longer"
            )
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}: line {number} is not valid Unicode (byte {error.start + 1} of it is "
                f"0x{line[error.start]:02x}); give a UTF-8 file, or repair or drop the line"
            ) from error
        yield text.removeprefix("\ufeff") if number == 1 else text


def without_break(line: str) -> str:
    """Return the line without its line break."""
    return line.removesuffix("\n").removesuffix("\r")
