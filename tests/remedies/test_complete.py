"""Every refusal has a remedy that a test follows, or a reason why none does."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

from remedies.refusals import Refusal, files, named, refusals
from remedies.written import cases

HERE = Path(__file__).parent

#: The reasons that there are, which listed.toml explains.
REASONS = {
    *("damaged", "another", "exported", "machine", "hub", "given", "oracle", "baked"),
    *("elsewhere", "fitted", "options", "unreachable"),
}


def test_every_refusal_is_followed_or_listed() -> None:
    """A new one needs a case, in the folder ``cases`` or beside it, or a line in listed.toml."""
    every = {one for file in files() for one in refusals(file)}
    left = sorted(f"{one.file}: {one.text}" for one in every - _followed() - {*_listed()})
    assert not left, "\n".join(["no test follows these remedies:", *left])


def test_the_list_has_each_once_and_for_a_reason() -> None:
    """What a test follows needs no excuse."""
    listed = Counter(_listed())
    assert {one: count for one, count in listed.items() if count > 1} == {}
    assert _followed() & {*listed} == set()
    assert _tables().keys() <= REASONS


def _followed() -> set[Refusal]:
    """The refusals that cases name; see `remedies.refusals.named`."""
    trees = [ast.parse(path.read_text("utf-8")) for path in HERE.glob("test_*.py")]
    constants = [one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.Constant)]
    names = {one.value for one in constants if isinstance(one.value, str)}
    names |= {case.name for case in cases()}
    return {named(name) for name in names if re.match(r"[\w/]+\.py: ", name)}


def _listed() -> list[Refusal]:
    return [named(name) for names in _tables().values() for name in names]


def _tables() -> dict[str, list[str]]:
    return tomllib.loads((HERE / "listed.toml").read_text("utf-8"))
