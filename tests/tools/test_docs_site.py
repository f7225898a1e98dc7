"""The pages of the documentation as its site shows them."""

from __future__ import annotations

from pathlib import Path

from docs_site import tabs, within, write_pages
from polybake.cli.main import app

ROOT = Path(__file__).resolve().parents[2]

PYTHON = "```python\nprint(1)\n\nprint(2)\n```\n"
RUBY = "```ruby\nputs 1\n```\n"


def test_the_same_in_two_languages_becomes_tabs() -> None:
    """Each block becomes a tab of its language, indented, and empty lines stay empty."""
    assert tabs(f"before\n\n{PYTHON}\n{RUBY}\nafter\n") == (
        'before\n\n=== "Python"\n\n    ```python\n    print(1)\n\n    print(2)\n    ```\n\n'
        '=== "Ruby"\n\n    ```ruby\n    puts 1\n    ```\n\nafter\n'
    )


def test_links_lead_to_pages_only() -> None:
    """A link to a source file, or a folder, leaves its text; pictures and others stay."""
    known = {"README.md", "docs/format.md"}
    page = "[a](format.md#x) [b](../README.md) [c](../python/x.py) [d](https://e.org) [f](#g)"
    assert within(page, "docs/tasks.md", known) == (
        "[a](format.md#x) [b](../README.md) c [d](https://e.org) [f](#g)"
    )
    assert within("![p](flow.svg)", "docs/tasks.md", known) == "![p](flow.svg)"
    shown = {"recipes/python/x.py.md"}
    assert within("[x](python/x.py)", "recipes/README.md", shown) == "[x](python/x.py.md)"


def test_the_reference_has_all_commands_and_schemas(tmp_path: Path) -> None:
    """The reference is made from the code, so that a new command appears by itself."""
    write_pages(ROOT, tmp_path)
    commands = (tmp_path / "reference/command-line.md").read_text("utf-8")
    verbs = [command.callback.__name__ for command in app.registered_commands if command.callback]
    assert len(verbs) > 10
    for verb in verbs:
        assert f"## `polybake {verb}`" in commands
    assert "**Commands**" not in commands
    recipe = "recipes/postgres/search.rb"
    assert (ROOT / recipe).read_text("utf-8") in (tmp_path / f"{recipe}.md").read_text("utf-8")
    schemas = (tmp_path / "reference/schemas.md").read_text("utf-8")
    for path in (ROOT / "docs/schema").glob("*.json"):
        assert f"## {path.name}" in schemas
        assert (tmp_path / "docs/schema" / path.name).read_bytes() == path.read_bytes()
