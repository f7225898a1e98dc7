"""Find regular expressions of a tokenizer.json that can search a text forever.

A search gives up after many steps back, which ends the process in Node and in Ruby. So texts that
may cause steps back are searched in a separate process, whose program is this file; it imports
only tokenizers.

Source: Oniguruma ``onig_set_retry_limit_in_match``, whose default tokenizers keeps.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from tokenizers import Regex, pre_tokenizers

#: Far more than any text takes, with the start of Python on a busy machine.
_SECONDS = 60

#: Enough repetitions for a pattern whose steps double with each character, and for a pattern whose
#: steps grow with the square.
_FEW, _MANY = 40, 5_000

#: The most characters of a pattern that are tried; known patterns have some hundreds.
_PLACES = 1_000

#: Characters that a pattern may not continue with.
_STOPS = ("!", "\n", "\u00e9")

#: A character, an escape or a class of a pattern.
_ATOM = re.compile(
    r"\\(?P<escape>[pP]\{\^?\w|\w)|\[(?P<other>\^)?\\?(?P<first>.)|\\?(?P<plain>[^\\\[\](){}|^$*+?])"
)
#: A character that an escape matches; other escapes get a letter.
_MEANT = {"p{N": "1", "p{Z": " ", "d": "1", "s": " ", "r": "\r", "n": "\n", "t": "\t"}


def slow_pattern(patterns: Sequence[str]) -> str | None:
    """Return the first pattern that gives up or takes too long, tried in a separate process."""
    # With -P neither the working folder nor this file's is searched for modules.
    command = [sys.executable, "-P", str(Path(__file__))]
    batch = ["", *patterns]  # the empty pattern always passes
    try:
        done = subprocess.run(  # noqa: S603 - this file
            command, input=json.dumps(batch).encode(), capture_output=True, timeout=_SECONDS
        )
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        output, errors = error.stdout or b"", b"no answer"
    if not output:
        raise RuntimeError(f"{sys.executable} does not run tokenizers: {errors!r}")
    return next(iter(batch[output.count(b"\n") :]), None)


def texts(pattern: str) -> Iterator[str]:
    """Yield texts that repeat a part of ``pattern`` after all that comes before the part.

    Some end with all of its characters, as a search first checks that the needed ones are there.
    """
    characters = [_character(atom) for atom in islice(_ATOM.finditer(pattern), _PLACES)]
    whole = "".join(characters)
    ends = ["", *_STOPS, *(stop + whole for stop in _STOPS)]
    for index in range(len(characters)):
        for size in (1, 2, 3):
            part = "".join(characters[index : index + size])
            for end in ends:
                yield "".join(characters[:index]) + part * _FEW + end
    for character in dict.fromkeys([*characters, *"aA1 .\n"]):
        for end in ends:
            yield character * _MANY + end


def _character(atom: re.Match[str]) -> str:
    if atom["escape"]:
        return _MEANT.get(atom["escape"], "a")
    character = atom["first"] or atom["plain"]
    return "a" if atom["other"] or character == "." else character


if __name__ == "__main__":
    for searched in json.load(sys.stdin):
        split = pre_tokenizers.Split(Regex(searched), "removed")
        for text in texts(searched):
            split.pre_tokenize_str(text)
        print("searched", flush=True)  # noqa: T201 - what the other process counts
