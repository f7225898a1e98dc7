"""The toolchain of each language, which all tests of a run share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from support.clients.cargo import Cargo
from support.clients.dotnet import DotNet
from support.clients.go import Go
from support.clients.java import Java
from support.clients.npm import Browser, Node
from support.clients.python import Python
from support.clients.ruby import Ruby
from support.clients.toolchain import Toolchain

TOOLCHAINS: dict[str, type[Toolchain]] = {
    one.language: one for one in (Python, Node, Ruby, DotNet, Java, Go, Cargo, Browser)
}


@pytest.fixture(scope="session")
def toolchain_of(once_folder: Path) -> Callable[[str], Toolchain]:
    """Gives the toolchain of a language, its packages there."""
    return functools.cache(lambda language: TOOLCHAINS[language](once_folder))
