"""Every refusal has a remedy that a test follows, or a reason why none does."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

from remedies.refusals import files, named, refusals

HERE = Path(__file__).parent
LISTED = HERE / "listed.toml"


def test_every_refusal_is_followed_or_listed() -> None:
    """A new one needs a case in a file beside this one, or a line in listed.toml."""
    cases = [name for path in HERE.glob("test_*.py") for name in _names(path.read_text("utf-8"))]
    followed = {named(name) for name in cases}
    counted = Counter(named(name) for name in _listed())
    listed = set(counted)
    every = {one for file in files() for one in refusals(file)}
    print(len(every), len(followed), len(listed))
    left = sorted(f"{one.file}: {one.text}" for one in every - followed - listed)
    assert not left, "\n".join(["no test follows their remedy:", *left])


def _names(code: str) -> set[str]:
    """The names that a file of cases gives to what it does; see `remedies.refusals.named`."""
    constants = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
    return {one for one in constants if isinstance(one, str) and re.match(r"[\w/]+\.py: ", one)}


def _listed() -> list[str]:
    tables = tomllib.loads(LISTED.read_text("utf-8")) if LISTED.exists() else {}
    return [name for names in tables.values() for name in names]
