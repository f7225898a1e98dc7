"""What MkDocs makes its site of: the repository's own pages, and a reference made of the code.

Pages stay where they are, and read well there. Here the same lines in several languages become
tabs, recipes and examples become pages, and links to other source files become text.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Container, Iterator
from pathlib import Path

#: Files of the repository that are part of the site, where they are.
CONTENTS = (
    "*.md",
    "docs/*",
    "docs/schema/*.json",
    "bench/*.md",
    "bench/peers/*.md",
    "bench/results/*",
    "examples/*.md",
    "recipes/*.md",
)

#: Source files that are shown, each as a page of its own.
SHOWN = ("recipes/*/*.*", "examples/*.py", "deploy/[!.]*")

LANGUAGES = {
    "python": "Python",
    "ts": "Node",
    "js": "Node",
    "ruby": "Ruby",
    "csharp": "C#",
    "java": "Java",
}

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_FENCES = re.compile(
    rf"(?:^```(?:{'|'.join(LANGUAGES)})\n(?:(?!```).*\n)*```\n\n?){{2,}}", re.MULTILINE
)
_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^()\s]+)\)")

#: What jsonschema-markdown writes, as part of a larger page.
_CHANGES = (
    (r"^# .*\n\n", ""),
    (r"^#{3,4} Type: (.*)$", r"Type: \1"),
    (r"^---\n\n# Definitions\n", ""),
    (r"^## ", "### "),
    ("✅", "yes"),
    ("> ⚠️ Additional properties are not allowed", "No others are allowed"),
)

_PYTHON = """\
# Python

What `import polybake` has. Clients have their own, in [tasks](../docs/tasks.md).

::: polybake.bake

::: polybake.generate

::: polybake.verify

::: polybake.Embedder

## Errors

::: polybake.errors
    options:
      show_root_heading: false
      show_root_toc_entry: false
"""


def write_pages(root: Path, folder: Path) -> None:
    """Write all pages to an empty folder, at the places that they have in the repository."""
    found = {path for pattern in CONTENTS for path in root.glob(pattern) if path.is_file()}
    contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(found)}
    for path in sorted({path for pattern in SHOWN for path in root.glob(pattern)}):
        place = path.relative_to(root).as_posix()
        contents[f"{place}.md"] = source_page(path).encode("utf-8")
    made = reference(root / "docs/schema").items()
    contents |= {f"reference/{name}.md": text.encode("utf-8") for name, text in made}
    for place, content in contents.items():
        if place.endswith(".md"):
            page = tabs(within(content.decode("utf-8"), place, contents.keys()))
            content = page.encode("utf-8")
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def within(markdown: str, page: str, known: Container[str]) -> str:
    """Lead links to source files to their pages; of links to what has no page leave the text.

    Args:
        markdown: The page.
        page: Its own place, such as ``docs/tasks.md``, which links are relative to.
        known: The places of all files of the site.
    """

    def link(match: re.Match[str]) -> str:
        target = match[2].partition("#")[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if f"{place}.md" in known:
            return f"[{match[1]}]({target}.md)"
        return match[0] if "://" in target or not target or place in known else match[1]

    return _LINK.sub(link, markdown)


def source_page(path: Path) -> str:
    """A source file as a page."""
    language = path.suffix.removeprefix(".") or "docker"
    return f"# {path.name}\n\n````{language}\n{path.read_text('utf-8')}````\n"


def tabs(markdown: str) -> str:
    """Put blocks that say the same in several languages, one behind the other, into tabs."""

    def tabbed(match: re.Match[str]) -> str:
        blocks = [(LANGUAGES[one[1]], one[0]) for one in _FENCE.finditer(match[0])]
        if len({language for language, _ in blocks}) < len(blocks):
            return match[0]  # of one language, they follow each other
        return "".join(f'=== "{name}"\n\n{_indented(block)}\n' for name, block in blocks)

    return _FENCES.sub(tabbed, markdown)


def _indented(block: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in block.splitlines(True))


def reference(schemas: Path) -> dict[str, str]:
    """The pages that are made of docstrings, options and schemas, by name."""
    return {
        "python": _PYTHON,
        "command-line": _command_line(),
        "schemas": "".join(_schemas(schemas)),
    }


def _command_line() -> str:
    """Every command with its options, without the list that shortens what each does."""
    import typer
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    from polybake.cli.main import app

    command = get_command(app)
    context = typer.Context(command, info_name="polybake")
    text = get_docs_for_click(obj=command, ctx=context, name="polybake", title="Command line")
    return re.sub(r"^\*\*Commands\*\*:\n\n(?:\* .*\n)+", "", text, flags=re.MULTILINE)


def _schemas(folder: Path) -> Iterator[str]:
    """Every schema as tables, each under its own heading."""
    from jsonschema_markdown import generate

    yield "# JSON Schemas\n\nOf every file and message that another program reads or writes.\n"
    for path in sorted(folder.glob("*.schema.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        text = generate(schema, footer=False, hide_empty_columns=True)
        for change in _CHANGES:
            text = re.sub(*change, text, flags=re.MULTILINE)
        yield f"\n## {path.name}\n\n[The schema itself](../docs/schema/{path.name}). {text}"


if __name__ == "__main__":
    write_pages(Path(__file__).resolve().parents[1], Path(sys.argv[1]))
