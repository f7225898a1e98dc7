"""Regular expressions that match any of many words; their number does not change the time."""

from collections.abc import Iterable

#: The next characters of words, and under the empty string that a word may end here.
_Node = dict[str, "_Node"]


def any_of(words: Iterable[str]) -> str:
    """A pattern that matches the longest of ``words`` that stands at a place."""
    root: _Node = {}
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[""] = {}
    return _pattern(root)


def character_class(characters: Iterable[str]) -> str:
    """Return a pattern that matches any of ``characters``."""
    return f"[{''.join(map(_escaped, characters))}]"


def _pattern(node: _Node) -> str:
    prefix = ""
    while len(node) == 1 and "" not in node:
        ((character, node),) = node.items()
        prefix += _escaped(character)
    parts = [
        _escaped(character) + _pattern(after) for character, after in node.items() if character
    ]
    if not parts:
        return prefix
    return f"{prefix}(?:{'|'.join(parts)}){'?' if '' in node else ''}"


def _escaped(character: str) -> str:
    return f"\\x{{{ord(character):x}}}"
