"""What is supported: docs/support.md has a row for each proof, and a summary before them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_UP, Context
from typing import NamedTuple

REMEDY = "nox -s oracle -- --write-support"

#: Differences below it are shown as it: they are rounding, and change from run to run.
_SMALLEST = 1e-8
#: A difference may be this many times the committed one: another processor rounds differently.
_SLACK = 10

_HEAD = "| model kind | source | steps | largest difference | shown by |\n|---|---|---|---|---|\n"

_PAGE = f"""# What is supported

Each row of the [last table](#every-proof) was written by the test it links to. The test saves a
model with its own library, bakes it, and compares the two: token ids are equal, and no element of
a vector differs by more than 1e-5 of the vector's length. The difference shown is the largest
that was found, rounded up to one digit. Differences of all-MiniLM-L6-v2 are of its real weights,
all others of a tiny model with random weights. The first two tables are a summary of the last. What
becomes of a model by its name on the hub stands under [published models](#published-models).

**A model kind, a source or a module of a model folder that has no row is unsupported.** It is
refused by name, unless you let PyTorch export it: [`encoder = "torch"`](settings.md#sources).
Steps that you add in polybake.toml work behind every row; [settings](settings.md#steps) lists
them, and each bake compares them with NumPy.

The oracle tests fail where a row is missing, is left over, or has grown more than tenfold. What
the libraries gave is recorded in fixtures/oracle, and every change is judged by it.
`{REMEDY}` writes this page.
"""
_LINE = re.compile(
    r"^\| (.+) \| (.+) \| `(.+)` \| (\S+) \| \[(\w+)\]\(\.\./(\S+)\) \|$", re.MULTILINE
)


#: What a kind is called after its model, and the task that it has then; without it, ``embed``.
_TASKS = {
    "classifier": "classify",
    "pairs": "classify-pairs",
    "reranker": "rerank",
    "entailment": "zero-shot",
    "tagger": "tag",
    "answerer": "answer",
    "sparse": "sparse",
    "multi-vector": "multi-vector",
    "hybrid": "hybrid",
}


class Row(NamedTuple):
    """What a test proved.

    Attributes:
        kind: The model, such as ``bert``, with its variant after a comma.
        source: What it was saved as, such as ``sentence-transformers folder``.
        steps: What follows the encoder, such as ``pool(mode=mean)``.
        test: The test's file and function, such as ``tests/oracle/test_pooling.py::test_modes``.
    """

    kind: str
    source: str
    steps: str
    test: str


def render(rows: Mapping[Row, float], published: str = "") -> str:
    """The page: models by what they are for, the models of each source, and all rows, sorted.

    Args:
        rows: What the tests proved.
        published: The section of published models, which others write.
    """
    parts = {
        "Models by task": _by_task(rows),
        "Models by source": _by_source(rows),
        "Every proof": _every_row(rows),
    }
    *first, last = (f"\n## {title}\n\n{''.join(part)}" for title, part in parts.items())
    return "".join([_PAGE, *first, *(["\n", published] if published else []), last])


def _every_row(rows: Mapping[Row, float]) -> Iterator[str]:
    """A line a row, with a link to its test."""
    yield _HEAD
    for row, difference in sorted(rows.items()):
        path, _, function = row.test.partition("::")
        link = f"[{function}](../{path})"
        shown = f"{_rounded_up(difference):.0e}"
        yield f"| {row.kind} | {row.source} | `{row.steps}` | {shown} | {link} |\n"


def family(kind: str) -> str:
    """The kind without its variant."""
    return kind.partition(",")[0]


def _model_and_task(kind: str) -> tuple[str, str]:
    name = family(kind)
    model, _, ending = name.rpartition(" ")
    return (model, _TASKS[ending]) if ending in _TASKS else (name, "embed")


def _by_task(rows: Mapping[Row, float]) -> Iterator[str]:
    """A line a model: the largest difference of each task."""
    largest: dict[tuple[str, str], float] = {}
    for row, difference in rows.items():
        found = _model_and_task(row.kind)
        largest[found] = max(largest.get(found, 0.0), difference)
    tasks = ["embed", *_TASKS.values()]
    yield f"| model | {' | '.join(tasks)} |\n|---|{'---|' * len(tasks)}\n"
    for model in _sorted(model for model, _ in largest):
        cells = [
            f"{_rounded_up(largest[model, task]):.0e}" if (model, task) in largest else ""
            for task in tasks
        ]
        yield f"| {model} | {' | '.join(cells)} |\n"


def _by_source(rows: Mapping[Row, float]) -> Iterator[str]:
    """A line a source, without its variants: the models that were saved so."""
    models: dict[str, set[str]] = {}
    for row in rows:
        source = row.source.partition(",")[0]
        models.setdefault(source, set()).add(_model_and_task(row.kind)[0])
    yield "| source | models |\n|---|---|\n"
    for source in _sorted(models):
        yield f"| {source} | {', '.join(_sorted(models[source]))} |\n"


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(set(names), key=str.lower)


def parse(page: str) -> dict[Row, float]:
    """The rows of a page that `render` made, and the differences shown."""
    return {
        Row(kind, source, steps, f"{path}::{function}"): float(shown)
        for kind, source, steps, shown, function, path in _LINE.findall(page)
    }


def faults(found: Mapping[Row, float], committed: Mapping[Row, float], *, whole: bool) -> list[str]:
    """How the rows that tests wrote differ from the committed ones, a line each.

    Args:
        found: What the tests of this run proved.
        committed: What the page says.
        whole: Every oracle test ran, so a committed row that none of them wrote is left over.
    """
    missing = [f"has no row for {_name(row)}" for row in sorted(found.keys() - committed.keys())]
    grown = [
        f"shows {committed[row]:.0e} for {_name(row)}; found {found[row]:.1e}"
        for row in sorted(found.keys() & committed.keys())
        if found[row] > _SLACK * committed[row]
    ]
    left = sorted(committed.keys() - found.keys()) if whole else []
    left_over = [f"has a row that no test wrote: {_name(row)}" for row in left]
    return [*missing, *grown, *left_over]


def _rounded_up(difference: float) -> float:
    context = Context(prec=1, rounding=ROUND_UP)
    return float(context.create_decimal(repr(max(difference, _SMALLEST))))


def _name(row: Row) -> str:
    return f"{row.kind}, {row.source}, {row.steps} ({row.test})"
