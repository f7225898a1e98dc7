"""Fail where the core of a client exceeds its budget: ``python tools/budgets.py MANIFEST``.

The lines of its library are counted as they are generated, comments and types included, without
parts, tests and harness. Of the browser's client those lines count, and files with such, that Node's
does not have.
"""

from __future__ import annotations

import re
import sys
from difflib import SequenceMatcher
from pathlib import Path

from polybake.base.modelfile.manifest import parse_manifest
from polybake.generation import render_client

#: The paths of a library's files, and the most lines and files of these, by language.
BUDGETS: dict[str, tuple[str, int, int]] = {
    "python": (r"src/.*", 450, 8),
    "node": (r"src/.*|index\.d\.ts", 620, 10),
    "csharp": (r"src/.*", 1_210, 13),
    "ruby": (r"(lib|sig)/.*", 945, 14),
    "java": (r"src/main/.*", 1_245, 12),
    "go": (r"[a-z]+\.go", 1_235, 11),
    "rust": (r"src/.*", 1_010, 12),
    "browser": (r"src/.*|index\.d\.ts", 360, 8),
}
#: The language whose lines do not count once more.
SHARED_WITH = {"browser": "node"}


def main(path: Path) -> int:
    """Print lines and files by language; 1 where a budget is exceeded."""
    manifest = parse_manifest(path.read_text(encoding="utf-8"), str(path))
    over = 0
    for language, (paths, most_lines, most_files) in BUDGETS.items():
        files = render_client(manifest, language).files
        library = {name: text for name, text in files.items() if re.fullmatch(paths, name)}
        base = SHARED_WITH.get(language)
        known = render_client(manifest, base).files if base else {}
        beyond = [_beyond(text, known.get(name, "")) for name, text in library.items()]
        lines, count = sum(beyond), sum(number > 0 for number in beyond)
        within = lines <= most_lines and count <= most_files
        sys.stdout.write(
            f"{language}: {lines} of {most_lines} lines, {count} of {most_files} files"
            f"{'' if within else ': over its budget'}\n"
        )
        over += not within
    return int(bool(over))


def _beyond(text: str, known: str) -> int:
    """The lines of a text that a known one does not have in this order."""
    lines, others = text.splitlines(), known.splitlines()
    same = SequenceMatcher(None, others, lines, autojunk=False).get_matching_blocks()
    return len(lines) - sum(block.size for block in same)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
