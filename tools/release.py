"""What a release says of itself: the section of CHANGELOG.md that a tag names.

Example: python tools/release.py v0.2.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polybake
from polybake.errors import InputError, PolybakeError


def notes(tag: str, changelog: str, version: str = polybake.__version__) -> str:
    """The changes of the version that a tag names.

    Args:
        tag: Such as ``v0.2.0``.
        changelog: The text of CHANGELOG.md.
        version: What the source calls itself.

    Raises:
        InputError: the tag names another version than the source, or the changelog has no section
            for it, which begins with ``## VERSION - YYYY-MM-DD``.
    """
    if tag != f"v{version}":
        raise InputError(
            f"tag {tag}: python/polybake/__init__.py says {version}; tag v{version}, or change one"
        )
    heading = rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)"
    section = re.search(heading, changelog, re.DOTALL | re.MULTILINE)
    if not section or not section[1].strip():
        raise InputError(
            f"CHANGELOG.md: has no changes under '## {version} - YYYY-MM-DD'; "
            "give the section Unreleased this heading"
        )
    return section[1].strip() + "\n"


def main() -> None:
    """Print the notes of the tag that is the only argument."""
    changelog = (Path(__file__).resolve().parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    try:
        tag = sys.argv[1] if len(sys.argv) > 1 else ""
        sys.stdout.write(notes(tag, changelog))
    except PolybakeError as error:
        sys.exit(f"release: {error}")


if __name__ == "__main__":
    main()
