"""Files of which every key must be known: used, or known to change no vector."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import ClassVar

from pydantic import AliasChoices, BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from polybake.base.files.printable import printable
from polybake.errors import InputError

#: Characters of a value, and keys, that are shown.
_LENGTH, _MOST = 40, 30


class KnownKeys(BaseModel):
    """The known keys of a JSON file, or of an object in it; all other keys are unknown.

    A subclass declares the keys that it uses, and passes over keys that change no vector.
    """

    model_config = ConfigDict(extra="allow")

    #: Keys that change no vector, whatever they say.
    passed_over: ClassVar[Collection[str]] = ()
    #: A further remedy for a refused key.
    hints: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def passes_over(cls, key: str, value: object) -> bool:
        """Return whether an undeclared key changes no vector, as with a value that says nothing.

        null, false, 0 and empty values say nothing.
        """
        return not value or key in cls.passed_over


@dataclass(frozen=True)
class Allowed:
    """Unknown keys that the user takes responsibility for.

    Attributes:
        keys: Their paths, such as ``rope_scaling.short_factor``.
        met: The keys that some file has; filled as files are read.
    """

    keys: Collection[str] = ()
    met: set[str] = field(default_factory=set)

    def check(self, path: Path, read: BaseModel, remedy: str) -> None:
        """Check that every key of a file is known or allowed."""
        hints = read.hints if isinstance(read, KnownKeys) else {}
        self.refuse(path, dict(_unknown(read)), remedy, hints)

    def refuse(
        self,
        path: Path,
        unknown: Mapping[str, object],
        remedy: str,
        hints: Mapping[str, str] | None = None,
        meant: Mapping[str, str] | None = None,
    ) -> None:
        """Refuse the unknown keys of a file that are not allowed.

        Args:
            path: The file.
            unknown: The values of the keys, by their paths.
            remedy: What helps.
            hints: A further remedy for a key.
            meant: The known key that an unknown one resembles.

        Raises:
            InputError: There are such keys; the message names them.
        """
        self.met.update(unknown.keys() & {*self.keys})
        rest = ((key, value) for key, value in unknown.items() if key not in self.keys)
        refused = dict(islice(rest, _MOST))
        if refused:
            hinted = "".join(
                f"; {key}: {hint}" for key, hint in (hints or {}).items() if key in refused
            )
            near = {key: f" (did you mean {known}?)" for key, known in (meant or {}).items()}
            listed = ", ".join(
                f"{printable(key)} = {_short(value)}{near.get(key, '')}"
                for key, value in refused.items()
            )
            names = json.dumps([*refused])
            keys = "keys" if len(refused) > 1 else "key"
            raise InputError(
                f"{path}: unknown {keys} {listed}, which may change vectors; {remedy}; or, if "
                f"vectors are right without, say allow_unknown = {names} below [model] in "
                f"polybake.toml (--set 'model.allow_unknown={names}'){hinted}"
            )

    def check_all_met(self) -> None:
        """Refuse an allowed key that is an unknown key of no file of the model."""
        rest = [key for key in self.keys if key not in self.met]
        if rest:
            raise InputError(
                f"model.allow_unknown: no file of the model has an unknown key {rest[0]!r}; "
                "leave it out"
            )


def _unknown(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The unknown keys of a file and of the objects in it, by their paths."""
    kind = type(model)
    if isinstance(model, KnownKeys):
        known = {name for key, info in kind.model_fields.items() for name in _names(key, info)}
        for key, value in (model.model_extra or {}).items():
            if key not in known and not model.passes_over(key, value):
                yield f"{prefix}{key}", value
    for key, info in kind.model_fields.items():
        value = getattr(model, key)
        members = value if isinstance(value, Mapping) else {"": value}
        for name, member in members.items():
            if isinstance(member, BaseModel):
                inner = f".{name}" if name else ""
                yield from _unknown(member, f"{prefix}{_names(key, info)[0]}{inner}.")


def _names(key: str, info: FieldInfo) -> list[str]:
    """Return the names that a field may have in a file."""
    alias = info.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    return [key if alias is None else str(alias)]


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LENGTH else f"{text[:_LENGTH]}…"
