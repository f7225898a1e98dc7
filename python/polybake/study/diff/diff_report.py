"""A comparison as lines for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from polybake.base.files.printable import printable
from polybake.study.diff.module_change import ModuleChange, merged
from polybake.study.diff.neighbours import NEAREST, Neighbours
from polybake.study.diff.parts import DECIDING, SAYING, ModelParts
from polybake.study.diff.stage_result import StageResult, blank
from polybake.study.diff.verdict import few, percent
from polybake.study.diff.weights import WeightChange
from polybake.verification.verdict import Stage

#: The most lines of a part; --json has all.
_LINES = 12

#: The most characters that are shown of a text.
_TEXT = 60

#: The most operators that are named for a module.
_OPERATORS = 4


def parts_lines(parts: ModelParts) -> Iterator[str]:
    """Yield the differences of each part."""
    for name, head in (("before", parts.before), ("after", parts.after)):
        yield _line(name, f"{head.path}, fingerprint {head.manifest.fingerprint}")
    for part in (*DECIDING, *SAYING):
        lines = [
            f"{one.place.removeprefix(f'{part}.')}: {one.change}" for one in parts.changes_of(part)
        ]
        yield from _lines(part, lines or ["differs" if parts.differs(part) else "the same"])


def modules_lines(modules: Iterable[ModuleChange]) -> Iterator[str]:
    """Yield which modules of the graph differ; layers of one kind share a line."""
    lines = [_module(change) for change in merged(modules)]
    yield from _lines("modules", lines or ["equal operators and weights, joined otherwise"])


def stages_lines(stages: Iterable[StageResult]) -> Iterator[str]:
    """Yield what was seen in each stage, and the text that differs most."""
    for result in stages:
        count = f"{result.differing} of {result.texts}" if result.differing else str(result.texts)
        what = "token ids" if result.stage is Stage.TOKENIZE else "vectors"
        which = "other" if result.differing else "the same"
        yield _line(result.stage, f"{count} texts have {which} {what}{_figures(result)}")
        if result.worst is not None:
            worst = result.worst if isinstance(result.worst, str) else " | ".join(result.worst)
            text = worst if len(worst) <= _TEXT else f"{worst[: _TEXT - 1]}…"
            label = "the first" if result.stage is Stage.TOKENIZE else "most"
            empty = "the empty text" if not worst else "white space alone"
            yield _line("", f"{label}: {empty}" if blank(result.worst) else f'{label}: "{text}"')


def neighbours_lines(neighbours: Neighbours | None) -> Iterator[str]:
    """Yield how many neighbours stay, by the second file alone and by both files together."""
    if neighbours is None:
        yield _line("neighbours", f"too few texts to have {NEAREST} each")
        return
    yield _line(
        "neighbours",
        f"{percent(neighbours.alone)} of the {NEAREST} nearest of each of {neighbours.texts} texts "
        f"stay{few(neighbours.texts)}; rank correlation {neighbours.rank_correlation:.4f}",
    )
    if neighbours.old_index is not None and neighbours.shared_index is not None:
        yield _line(
            "together",
            f"{percent(neighbours.old_index)} by new queries among old vectors, "
            f"{percent(neighbours.shared_index)} where every second one is new",
        )


def _figures(result: StageResult) -> str:
    if result.stage is Stage.TOKENIZE or not result.texts:
        return ""
    unit = f" {result.unit}" if result.unit else ""
    largest = f", an element by at most {result.largest:.2g}{unit}"
    stats = result.cosines if result.differing else None
    if stats is None:
        return largest
    return (
        f"{largest}; cosine {_cosine(stats.least)} at least, {_cosine(stats.hundredth)} at 1 %, "
        f"{_cosine(stats.median)} in the median"
    )


#: The words for each kind of change.
_KINDS = {
    "changed": "changed",
    "retyped": "of another type",
    "reshaped": "of another shape",
    "renamed": "equal under another name",
    "gone": "gone",
    "new": "new",
}


def _module(change: ModuleChange) -> str:
    """Return a line such as ``encoder.layer.0-5: 24 weights changed (most in …)``."""
    parts = []
    for kind, word in _KINDS.items():
        if weights := change.of_kind(kind):
            plural = "s" * (len(weights) > 1)
            parts.append(f"{len(weights)} weight{plural} {word} ({_weight(weights)})")
    if parts and change.equal:
        parts.append(f"{change.equal} equal")
    overlap = change.nodes_removed & change.nodes_added  # with other inputs or attributes
    for word, operators in (
        ("changed", overlap),
        ("removed", change.nodes_removed - overlap),
        ("added", change.nodes_added - overlap),
    ):
        if operators:
            counts = [f"{times} {name}" for name, times in operators.most_common()]
            parts.append(f"operators {word}: {_first(counts, _OPERATORS)}")
    return f"{change.module or 'graph'}: {'; '.join(parts)}"


def _weight(changes: Sequence[WeightChange]) -> str:
    """Describe the weight that differs most, or the first if none can be compared."""
    compared = [change for change in changes if change.largest]
    worst = max(compared or changes[:1], key=lambda change: change.largest or 0.0)
    if worst.kind == "renamed":
        return f"{worst.name} -> {worst.now}"
    if worst.kind in ("retyped", "reshaped"):
        name = f"{worst.name}: {worst.before} -> {worst.after}"
    else:
        name = worst.name
    if not compared:
        return name
    cosines = [change.cosine for change in compared if change.cosine is not None]
    least = f", cosine {_cosine(min(cosines))} at least" if cosines else ""
    return f"most in {name}, an element by {worst.largest:.2g}{least}"


def _cosine(cosine: float) -> str:
    """Return a cosine as text; a cosine that rounds to 1 as ``1 - difference``."""
    missing = 1 - cosine
    return f"{cosine:.6f}" if missing > 1e-5 else f"1 - {max(missing, 0.0):.2g}"


def _first(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _lines(heading: str, lines: list[str]) -> Iterator[str]:
    if len(lines) > _LINES:
        lines[_LINES:] = [f"and {len(lines) - _LINES} more, which --json lists"]
    for number, line in enumerate(lines):
        yield _line("" if number else heading, line)


def _line(heading: str, text: str) -> str:
    """Return a line without control characters, as a model chooses the names of its parts."""
    return f"{heading:<11}{printable(text)}"
