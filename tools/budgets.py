"""Fail where a client, all templates, or the core exceed their budget.

``python tools/budgets.py MANIFEST`` counts the lines of the clients of a manifest as they are
generated, comments and types included, without parts: those of the library, of the harness, and of
the client's own tests. Of the browser's client those count that Node's does not have. Statements
of the core are those of Python without imports and docstrings.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from polybake.base.files.templates import templates_folder
from polybake.base.modelfile.manifest import Manifest, parse_manifest
from polybake.generation import render_client


@dataclass(frozen=True)
class Budget:
    """The most lines of a client of the task ``embed``, and where they are.

    Attributes:
        library, harness, tests: Match the paths of these files.
        lines, files: The most of the library.
        harness_lines, tests_lines: The most of the others.
        excess: Lines that another task may have beyond `ADDED`, mostly for pairs and words.
        base: The language whose lines do not count once more.
    """

    library: str
    lines: int
    files: int
    harness: str
    harness_lines: int
    tests: str
    tests_lines: int
    excess: int = 0
    base: str = ""


BUDGETS: dict[str, Budget] = {
    "python": Budget(r"src/.*", 450, 8, r"harness/.*", 100, r"tests/.*", 130, 1),
    "node": Budget(r"src/.*|index\.d\.ts", 620, 10, r"harness/.*", 100, r"tests/.*", 130, 3),
    "ruby": Budget(r"(lib|sig)/.*", 430, 8, r"harness/.*", 100, r"test/.*", 130, 1),
    "csharp": Budget(r"src/.*\.cs", 540, 8, r"harness/.*", 120, r"tests/.*", 150),
    "java": Budget(r"src/main/.*", 660, 9, r".*/Harness\.java", 140, r".*Test\.java", 150),
    "go": Budget(r"(?!harness)[a-z]+\.go", 618, 8, r"harness.*\.go", 166, r".*_test\.go", 154, 41),
    "rust": Budget(r"src/(?!tests\.rs).*", 520, 8, r"harness/.*", 120, r"src/tests\.rs", 150, 5),
    "browser": Budget(
        r"src/.*|index\.d\.ts", 360, 8, r"harness/.*", 198, r"tests/.*", 98, base="node"
    ),
}

#: Folders without templates: binary files, and what Python keeps.
_NO_TEMPLATES = ("wasm", "__pycache__")

#: The most lines and files of templates, in all languages and tasks.
TEMPLATES = 16_000, 420

#: The most lines, files and statements of the core.
CORE = 42_800, 440, 17_800

#: The most lines that the library of another task has beside those of ``embed``.
ADDED = {
    **dict.fromkeys(("rerank", "classify", "classify-pairs", "sparse"), 60),
    **dict.fromkeys(("multi-vector", "hybrid", "zero-shot"), 90),
    **dict.fromkeys(("answer", "tag"), 150),
}


def main(path: Path) -> int:
    """Print what each language, the templates and the core have; 1 where a budget is exceeded."""
    manifest = parse_manifest(path.read_text(encoding="utf-8"), str(path))
    counts = {language: counted(manifest, language) for language in BUDGETS}
    counts["templates"] = counted_templates(templates_folder())
    counts["core"] = counted_core(Path(__file__).parents[1] / "python/polybake")
    for name, (told, within) in counts.items():
        sys.stdout.write(f"{name}: {told}{'' if within else ': over its budget'}\n")
    return int(not all(within for _, within in counts.values()))


def counted_templates(folder: Path) -> tuple[str, bool]:
    """Say how many lines and files all templates have, and whether that is within the budget."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    texts = [path.read_text("utf-8") for path in paths if path.parent.name not in _NO_TEMPLATES]
    counts = sum(len(text.splitlines()) for text in texts), len(texts)
    return _judged([*zip(("lines", "files"), counts, TEMPLATES, strict=True)])


def counted_core(folder: Path) -> tuple[str, bool]:
    """Say how many lines, files and statements the core has, and whether that is within budget."""
    texts = [path.read_text("utf-8") for path in folder.rglob("*.py")]
    counts = sum(len(text.splitlines()) for text in texts), len(texts), sum(map(_statements, texts))
    return _judged([*zip(("lines", "files", "statements"), counts, CORE, strict=True)])


def _statements(text: str) -> int:
    """Count the statements of a module without imports and docstrings."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    said = (node for node in nodes if not isinstance(node, ast.Import | ast.ImportFrom))
    return sum(
        not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in said
    )


def _judged(counts: Sequence[tuple[str, int, int]]) -> tuple[str, bool]:
    """Say each part's count and its most, and whether none exceeds it."""
    told = ", ".join(f"{part} {count} of {most}" for part, count, most in counts)
    return told, all(count <= most for _, count, most in counts)


def counted(manifest: Manifest, language: str) -> tuple[str, bool]:
    """Say how large a client is, and whether it is within its budget."""
    budget = BUDGETS[language]
    files = render_client(manifest, language).files
    known = render_client(manifest, budget.base).files if budget.base else {}

    def beyond(paths: str) -> list[int]:
        names = [name for name in files if re.fullmatch(paths, name)]
        return [_beyond(files[name], known.get(name, "")) for name in names]

    library = beyond(budget.library)
    task = manifest.contract.task
    added = 0 if task == "embed" else ADDED[task] + budget.excess
    counts = [
        ("library", sum(library), budget.lines + added),
        ("files", sum(map(bool, library)), budget.files),
        ("harness", sum(beyond(budget.harness)), budget.harness_lines),
        ("own tests", sum(beyond(budget.tests)), budget.tests_lines),
    ]
    return _judged(counts)


def _beyond(text: str, known: str) -> int:
    """The lines of a text that a known one does not have in this order."""
    lines, others = text.splitlines(), known.splitlines()
    same = SequenceMatcher(None, others, lines, autojunk=False).get_matching_blocks()
    return len(lines) - sum(block.size for block in same)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
