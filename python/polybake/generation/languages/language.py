"""What the generator knows about a client language; the rest is in its templates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(frozen=True)
class Spelling:
    """How a language spells a name: made of the model's, or chosen by a user to match a pattern."""

    of_model: Callable[[str], str]
    pattern: str


@dataclass(frozen=True)
class Language:
    """How a language writes values and names, and the files that belong to a client's owner.

    A model's names and prompts may come from anyone, so no string reaches a file unencoded.

    Attributes:
        name: The name of its folder of templates, and in polybake.toml.
        string: Encodes text as a literal of source code.
        literal: Writes a JSON value as a literal, with parts on lines, at a level of indentation.
        project_string: Encodes text for the package's project file.
        null: The literal of what is not there.
        elements: The type of an embedding's element, or in Node of its array, by dtype.
        package: The spelling of the published package's name.
        module: The spelling of the imported module's name.
        reserved: Names, in lower case, that would shadow something a client or its users import.
        project_files: Paths of templates whose files belong to their owner once changed.
        path: Makes ``__path__`` of the names of package and module.
        shares: Binary files that several languages have in common, which lie once in the folder of
            templates: their path in it, by that in a client.
        base: A folder of templates that it has in common with other languages; its own come first.
        method: Spells the name of a method, given in snake case.
        beside: Whether its clients take models whose weights lie beside the graph.
        programs: What a client needs on PATH beside Python, as its harness.json says.
    """

    name: str
    string: Callable[[str], str]
    project_string: Callable[[str], str]
    literal: Callable[[JsonValue, int], str]
    null: str
    elements: Mapping[str, str]
    package: Spelling
    module: Spelling
    reserved: frozenset[str]
    project_files: frozenset[str]
    path: Callable[[str, str], str] = lambda package, _module: snake(package)
    shares: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    method: Callable[[str], str] = str
    beside: bool = True
    programs: tuple[str, ...] = ()


def quoted(text: str, *, wide: str, also: str = "") -> str:
    """Return a double-quoted literal; quotes are escaped by number, so no formatter re-quotes."""

    def character(char: str) -> str:
        if char.isprintable() and char not in '"\\' + also:
            return char
        if char in "\\\n":
            return "\\\\" if char == "\\" else "\\n"
        return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else wide.format(ord(char))

    return f'"{"".join(map(character, text))}"'


def bracketed(
    brackets: tuple[str, str],
    parts: Sequence[str],
    space: str,
    *,
    indent: str,
    fits: Callable[[str], bool],
    comma: str = "",
) -> str:
    """Return a list or an object of these parts: one line if it fits, else a line for each part."""
    begin, end = brackets
    line = f"{begin}{', '.join(parts)}{end}"
    if "\n" not in line and fits(line):
        return line
    lines = ",\n".join(f"{space}{indent}{part}" for part in parts)
    return f"{begin.strip()}\n{lines}{comma}\n{space}{end.strip()}"


def joined(model: str) -> str:
    """``allminilml6v2``."""
    return model.replace("-", "")


def snake(model: str) -> str:
    """``all_minilm_l6_v2``."""
    return model.replace("-", "_")


def pascal(model: str) -> str:
    """``AllMinilmL6V2``."""
    return "".join(part.capitalize() for part in model.split("-"))


def pascal_method(name: str) -> str:
    """``EmbedQueries``."""
    return pascal(name.replace("_", "-"))


def camel_method(name: str) -> str:
    """``embedQueries``."""
    first, _, rest = name.partition("_")
    return first + pascal_method(rest)
