"""Fail where the core of a client exceeds its budget: ``python tools/budgets.py MANIFEST``.

The lines of its library are counted as they are generated, comments and types included, without
parts, tests and harness.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from polybake.base.modelfile.manifest import parse_manifest
from polybake.generation import render_client

#: The paths of a library's files, and the most lines and files of these, by language.
BUDGETS: dict[str, tuple[str, int, int]] = {
    "python": (r"src/.*", 1_020, 14),
    "node": (r"src/.*|index\.d\.ts", 1_225, 14),
    "csharp": (r"src/.*", 1_355, 14),
    "ruby": (r"(lib|sig)/.*", 1_110, 14),
    "java": (r"src/main/.*", 1_590, 14),
    "go": (r"[a-z]+\.go", 1_440, 14),
    "rust": (r"src/.*", 1_015, 14),
    "browser": (r"src/.*|index\.d\.ts", 1_460, 18),
}


def main(path: Path) -> int:
    """Print lines and files by language; 1 where a budget is exceeded."""
    manifest = parse_manifest(path.read_text(encoding="utf-8"), str(path))
    over = 0
    for language, (paths, most_lines, most_files) in BUDGETS.items():
        files = render_client(manifest, language).files
        library = [text for name, text in files.items() if re.fullmatch(paths, name)]
        lines = sum(text.count("\n") for text in library)
        within = lines <= most_lines and len(library) <= most_files
        sys.stdout.write(
            f"{language}: {lines} of {most_lines} lines, {len(library)} of {most_files} files"
            f"{'' if within else ': over its budget'}\n"
        )
        over += not within
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
