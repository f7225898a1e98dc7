"""The settings of a JSON file, handed out by key; what nothing reads is refused at the end."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from polybake.base.files.known_keys import Allowed
from polybake.base.files.validation import expected, key_path
from polybake.errors import InputError

Value = TypeVar("Value")

#: The default of a key that every file has.
NEEDED: Final[Any] = object()

_FLAG, _INTEGER, _NUMBER = TypeAdapter(bool), TypeAdapter(int), TypeAdapter(float)
_STRICT: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(strict=True)])
_OPTIONAL_FLAG: TypeAdapter[bool | None] = TypeAdapter(bool | None)
_OPTIONAL_SIZE: TypeAdapter[Any] = TypeAdapter(Annotated[int, Field(gt=0, strict=True)] | None)
_WORDS: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])
_OBJECT: TypeAdapter[Mapping[str, object] | None] = TypeAdapter(Mapping[str, object] | None)


class Settings:
    """The values of a JSON file by key; each key that is read is known.

    A key that nothing reads may change vectors: `check` refuses it, unless it says nothing.

    Args:
        values: The file's values, or those of an object in it.
        path: The file, for messages.
        remedy: For the message of a value that is refused.
        within: The keys of the objects that the values stand in, such as ``rope_scaling.``.
        choices: What the user says of the model in polybake.toml, by its key there.
    """

    def __init__(
        self,
        values: Mapping[str, object],
        path: Path = Path("config.json"),
        *,
        remedy: str = "download it again",
        within: str = "",
        choices: Mapping[str, str | None] | None = None,
    ) -> None:
        self.values, self.path, self.remedy, self.within = values, path, remedy, within
        self.choices = {key: value for key, value in (choices or {}).items() if value is not None}
        #: What else helps where a key is refused.
        self.hints: dict[str, str] = {}
        self._known: set[str] = set()
        self._objects: list[Settings] = []

    def pass_over(self, *keys: str) -> None:
        """Know keys that change no vector, whatever they say."""
        self._known.update(keys)

    def value(self, kind: TypeAdapter[Value], *keys: str, default: Value = NEEDED) -> Value:
        """Return the value of a key, which may have several names: the first that the file has."""
        self._known.update(keys)
        key = next((key for key in keys if key in self.values), None)
        if key is None:
            if default is NEEDED:
                raise self.refused(f"{self.within}{keys[0]}: is missing")
            return default
        try:
            return kind.validate_python(self.values[key])
        except ValidationError as error:
            fault = error.errors()[0]
            fault["loc"] = (key, *fault["loc"])
            path = f"{self.within}{key_path(fault['loc'])}"
            raise self.refused(f"{path}: {expected(fault)}") from error

    def size(self, *keys: str, default: int = NEEDED, at_most: int | None = None) -> int:
        """Return a whole number above 0."""
        return self.value(_size(1, at_most), *keys, default=default)

    def optional_size(self, *keys: str, default: int | None = None) -> int | None:
        """Return a whole number above 0, or None, which null says."""
        size: int | None = self.value(_OPTIONAL_SIZE, *keys, default=default)
        return size

    def count(self, *keys: str, default: int = NEEDED) -> int:
        """Return a whole number, 0 or above."""
        return self.value(_size(0, None), *keys, default=default)

    def integer(self, *keys: str, default: int = NEEDED, strict: bool = False) -> int:
        """Return a whole number, which may be a text of digits unless it is ``strict``."""
        return self.value(_STRICT if strict else _INTEGER, *keys, default=default)

    def number(
        self,
        *keys: str,
        default: float = NEEDED,
        low: float | None = None,
        above: float | None = None,
    ) -> float:
        """Return a finite number, of ``low`` or more, or above a bound."""
        return self.value(_number(low, above), *keys, default=default)

    def flag(self, *keys: str, default: bool = False) -> bool:
        """Return true or false."""
        return self.value(_FLAG, *keys, default=default)

    def optional_flag(self, *keys: str) -> bool | None:
        """Return true or false, or None, which null says."""
        return self.value(_OPTIONAL_FLAG, *keys, default=None)

    def words(self, *keys: str, default: tuple[str, ...] = NEEDED) -> tuple[str, ...]:
        """Return the words of a list."""
        return self.value(_WORDS, *keys, default=default)

    def choice(self, words: tuple[str, ...], *keys: str, default: str = NEEDED) -> str:
        """Return one of several words."""
        word: str = self.value(_literal(*words), *keys, default=default)
        return word

    def only(self, key: str, *values: bool | int | str | None, needed: bool = False) -> None:
        """Refuse a key that nothing computes, but for the values that change nothing.

        A key that was read or passed over before is left alone.
        """
        if key not in self._known:
            self.value(_literal(*values), key, default=NEEDED if needed else None)

    def inner(self, key: str) -> "Settings | None":
        """Return the settings of an object in the file; None where there is none, or null."""
        values = self.value(_OBJECT, key, default=None)
        if values is None:
            return None
        within = f"{self.within}{key_path((key,))}."
        self._objects.append(Settings(values, self.path, remedy=self.remedy, within=within))
        return self._objects[-1]

    def refused(self, message: str) -> InputError:
        """Return the error of a value, or of values that do not fit each other."""
        return InputError(f"{self.path}: {message}; {self.remedy}")

    def check(self, allowed: Allowed) -> None:
        """Refuse each key that nothing has read, says something, and is not allowed.

        Raises:
            InputError: There are such keys; the message names them.
        """
        unknown = self._unknown()
        allowed.refuse(self.path, unknown, self.remedy, self.hints, self._meant(unknown))

    def _unknown(self) -> dict[str, object]:
        """The keys that nothing has read; null, false, 0 and empty values say nothing."""
        unknown = {
            f"{self.within}{key}": value
            for key, value in self.values.items()
            if value and key not in self._known
        }
        for inner in self._objects:
            unknown |= inner._unknown()
        return unknown

    def _meant(self, unknown: Collection[str]) -> dict[str, str]:
        """The most similar known key of each unknown one, if there is one that the file lacks."""
        absent = [key for key in self._known if key not in self.values]
        near = {key: get_close_matches(key, absent, n=1, cutoff=0.8) for key in unknown}
        return {key: similar[0] for key, similar in near.items() if similar}


@cache
def _size(low: int, high: int | None) -> TypeAdapter[int]:
    return TypeAdapter(Annotated[int, Field(ge=low, le=high, strict=True)])


@cache
def _number(low: float | None, above: float | None) -> TypeAdapter[float]:
    return TypeAdapter(Annotated[float, Field(ge=low, gt=above, allow_inf_nan=False)])


@lru_cache(maxsize=None, typed=True)  # True is no 1
def _literal(*values: bool | int | str | None) -> TypeAdapter[Any]:
    kind: Any = Literal[values]
    return TypeAdapter(kind)
