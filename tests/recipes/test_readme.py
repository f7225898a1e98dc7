"""The lines of recipes/README.md, run as they stand with the committed client and real weights."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import sys
from pathlib import Path

import pytest

from support.processes.fresh_home import run_silently

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "recipes" / "README.md").read_text(encoding="utf-8")
PYTHON = README.partition("\n## Python\n")[2].partition("\n## ")[0]

#: The module of each section's library.
MODULES = {
    "LangChain": "langchain_core",
    "LlamaIndex": "llama_index",
    "Haystack": "haystack",
    "Chroma": "chromadb",
    "Qdrant": "qdrant_client",
    "scikit-learn": "sklearn",
    "txtai": "txtai",
}


def marks(title: str) -> list[pytest.MarkDecorator]:
    """Where a section is tested: txtai needs PyTorch."""
    session = "oracle" if title == "txtai" else "recipes"
    missing = not importlib.util.find_spec(MODULES[title])
    skipped = pytest.mark.skipif(missing, reason=f"{title} is missing: nox -s {session}")
    return [skipped, pytest.mark.oracle] if session == "oracle" else [skipped]


def sections() -> list[object]:
    """The code of every section."""
    found = re.findall(r"^### (.+?)$.*?^```python\n(.*?)^```$", PYTHON, re.DOTALL | re.MULTILINE)
    return [pytest.param(code, id=title, marks=marks(title)) for title, code in found]


def versions() -> list[object]:
    """(package, version) of every row of the table."""
    rows = re.findall(r"^\| \[(.+?)\].*\| ([\w-]+) ([\d.]+)", PYTHON, re.MULTILINE)
    return [pytest.param(*row, id=title, marks=marks(title)) for title, *row in rows]


@pytest.mark.minilm
@pytest.mark.parametrize("code", sections())
def test_the_lines_find_the_cat(code: str, baked_minilm: Path, tmp_path: Path) -> None:
    """They print that alone, send nothing, and leave an empty home empty."""
    home, folder = tmp_path / "home", tmp_path / "program"
    folder.mkdir()
    (folder / baked_minilm.name).symlink_to(baked_minilm)
    (folder / "program.py").write_text(code, encoding="utf-8")
    path = f"{REPOSITORY}/clients/python/src:{REPOSITORY}/recipes/python"
    program = (sys.executable, "program.py")
    printed = run_silently(home, *program, cwd=folder, probing=True, PYTHONPATH=path)
    assert printed == "The cat sleeps on the sofa.\n"
    assert list(home.rglob("*")) == []


def test_every_recipe_has_its_lines() -> None:
    """Each is in the table, under a title of its own, and nothing else is."""
    files = {path.stem for path in (REPOSITORY / "recipes" / "python").glob("*.py")}
    assert set(re.findall(r"\(python/(\w+)\.py\)", PYTHON)) == files
    assert len(sections()) == len(versions()) == len(files) == len(MODULES)
    anchors = [title.lower() for title in MODULES]
    assert re.findall(r"\(#([\w-]+)\)", PYTHON) == anchors
    assert all(f"from {name} import" in PYTHON or f'"{name}.' in PYTHON for name in files)


@pytest.mark.parametrize(("package", "version"), versions())
def test_the_table_has_tested_versions(package: str, version: str) -> None:
    """Those that are installed where the recipes are tested."""
    assert importlib.metadata.version(package) == version
