"""Every refusal between a source and its model file, as the code writes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "python" / "polybake"

#: Where a model is read until it is written; refusals of other wings are not of models.
WINGS = ("baking", "runtime/tokenizer.py", "runtime/pairs.py", "base/files", "config.py")

#: What refuses, and what is given a remedy for a file that it refuses: how much it is given then.
_CALLS = {"InputError": 1, "ValueError": 1, "refused": 1, "read": 3, "counted": 3, "needed_file": 2}


@dataclass(frozen=True)
class Refusal:
    """One message of the code.

    Attributes:
        file: The file that writes it, below ``polybake/``.
        text: The message, with expressions for values.
        pattern: What every such message matches.
    """

    file: str
    text: str
    pattern: str


@cache
def files() -> list[str]:
    """The files of the wings."""
    found = [ROOT / wing for wing in WINGS]
    each = [one for path in found for one in ([path] if path.is_file() else path.rglob("*.py"))]
    return sorted(path.relative_to(ROOT).as_posix() for path in each)


@cache
def refusals(file: str) -> tuple[Refusal, ...]:
    """The refusals that a file writes: those of inputs, and of values with a remedy of their own.

    What repeats another error's message has no remedy of its own.
    """
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return tuple(one for call in calls for one in _refusals_of(file, call))


def named(name: str) -> Refusal:
    """The refusal of a name: the end of its file's path, a colon, and a part of its text.

    No other file ends so, and no other refusal of the file has this part.
    """
    end, _, part = name.partition(": ")
    found = [file for file in files() if f"/{file}".endswith(f"/{end}")]
    assert len(found) == 1, f"{name}: is said of {found}, expected one file"
    texts = {one for one in refusals(found[0]) if part in one.text}
    assert len(texts) == 1, f"{name}: {len(texts)} refusals of the file have this, expected one"
    return texts.pop()


def _refusals_of(file: str, call: ast.Call) -> Iterator[Refusal]:
    kind = ast.unparse(call.func).rpartition(".")[2]
    given = [*call.args, *(one.value for one in call.keywords if one.arg == "remedy")]
    if kind not in _CALLS or len(given) < _CALLS[kind]:
        return
    text = " ".join(map(_text, given))
    repeats = kind == "InputError" and re.fullmatch(r"([^;]*: )?\{.*(error|fault)\W*\}", text)
    bare = kind == "ValueError" or (kind == "refused" and len(given) == 1)
    if repeats or (bare and ";" not in text):
        return
    yield Refusal(file, text, ".*".join(map(_pattern, given)))


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.IfExp):
        return f"{_text(node.body)} {_text(node.orelse)}"
    shown = node.value if isinstance(node, ast.FormattedValue) else node
    return f"{{{ast.unparse(shown)}}}"


def _pattern(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value))
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_pattern, node.values))
    if isinstance(node, ast.IfExp):
        return f"(?:{_pattern(node.body)}|{_pattern(node.orelse)})"
    return ".*"
