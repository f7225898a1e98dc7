"""Tests that run the libraries are marked, and collected where these are installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

#: It has what they gave.
RECORDED = "test_recorded.py"
NEEDED = ("sentence_transformers", "sentencepiece", "torch", "transformers")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """A file that is named is collected all the same, so that its imports name what is missing."""
    library = collection_path.suffix == ".py" and collection_path.name != RECORDED
    return True if library and not all(map(find_spec, NEEDED)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path.name != RECORDED:
        item.add_marker("oracle")
