"""Faults that are planted into a client, and that its own tests, or verify, must catch."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """One fault: a text of one file of the client, and what takes its place.

    Attributes:
        model: The fixture whose model file the client is for, such as ``every_feed_left``.
        file: Below the client's folder; a ``*`` stands for the package's name.
        also: Stages of verify that it fails besides those that it fails in every language.
        tests: The file or class of the client's tests that is about it; all are run without one.
        imports: A package of Go that the file takes as well.
    """

    id: str
    model: str
    file: str
    find: str
    replace: str
    also: Sequence[str] = ()
    tests: str = ""
    imports: str = ""

    def plant(self, client: Path) -> None:
        """Change the file, in which the text stands once."""
        (path,) = client.glob(self.file)
        text = path.read_text(encoding="utf-8")
        assert text.count(self.find) == 1, f"{path}: {self.find!r} stands {text.count(self.find)}x"
        text = text.replace(self.find, self.replace)
        if self.imports:
            text = re.sub(r"^package \w+\n", rf'\g<0>\nimport "{self.imports}"\n', text, flags=re.M)
        path.write_text(text, encoding="utf-8")

    @contextmanager
    def planted(self, client: Path) -> Iterator[None]:
        """Plant the fault for the length of a block."""
        (path,) = client.glob(self.file)
        sound = path.read_text(encoding="utf-8")
        try:
            self.plant(client)
            yield
        finally:
            path.write_text(sound, encoding="utf-8")


def read_faults(language: str, folder: str = "planted") -> list[Fault]:
    """The faults of ``tests/FOLDER/LANGUAGE.toml``, or those of a language that it is like."""
    file = _TESTS / folder / f"{language}.toml"
    listed = tomllib.loads(file.read_text(encoding="utf-8"))
    like = listed.pop("like", "")
    faults = [Fault(**{"model": "every_feed"} | entry) for entry in entries(listed, "faults")]
    own = {fault.id: fault for fault in faults}
    others = read_faults(like, folder) if like else []
    return [own.pop(fault.id, fault) for fault in others] + [*own.values()]


def entries(sections: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """The entries of all sections; a section's other keys are those of entries without them."""
    for section in sections.values():
        listed = section.pop(name)
        yield from (section | entry for entry in listed)
