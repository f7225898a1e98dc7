"""What a comparison found, as Markdown, with all its particulars."""

from __future__ import annotations

from typing import Any

from results import LANGUAGES, Row, left_out, median, ours, rate, ratio, spread, timed

#: Where other programs took more of the machine, the times are those of a race with them.
QUIET = 0.05


def page(found: dict[str, Any], plot: str) -> str:
    """Every row with its spread, its cosine and its versions; and what was left out, and why.

    Args:
        found: The results.
        plot: The picture's path from the page.
    """
    lines = [
        "# Peers, side by side",
        "",
        f"{_conditions(found)} Made by `nox -s peers`; [how](../peers/README.md).",
        "",
        "× is the ratio to polybake's float32 file in Python, ± half the range of the rounds, and",
        "the cosine the smallest of any text's vector to that file's.",
        "",
        f"![Texts a second of each tool, by language]({plot})",
        "",
        *_table(found),
        "",
        "| | | versions |",
        "|---|---|---|",
    ]
    for row in timed(found):
        versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
        lines.append(f"| {_name(row)} | {versions} |")
    for row in left_out(found):
        lines += ["", f"{row['title']} ({LANGUAGES[row['language']]}): {row['left_out']}."]
    return "\n".join([*lines, ""])


def _table(found: dict[str, Any]) -> list[str]:
    count = found["texts"]
    columns = [
        "",
        "",
        f"{count['short']:,} short texts",
        f"{count['long']:,} long texts",
        "one text",
        "cosine",
        "peak memory",
    ]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in timed(found):
        cells = []
        for workload in ("short", "long", "single"):
            text = f"{rate(found, row, workload):.0f}/s"
            if workload == "single":
                text = f"{1000 * median(row, workload):.1f} ms"
            apart = f"± {spread(row, workload):.0%}"
            cells.append(f"{text} ({ratio(found, row, workload):.2f} ×, {apart})")
        cells += [_cosine(min(row["cosine"].values())), f"{row['peak']:,} MiB"]
        lines.append(f"| {_name(row)} | {' | '.join(cells)} |")
    return lines


def _conditions(found: dict[str, Any]) -> str:
    machine = found["machine"]
    text = (
        f"{machine['cpu']}, {machine['threads']} threads, all-MiniLM-L6-v2, {found['measured']}; "
        f"median of {found['rounds']} rounds in turns."
    )
    if found["others"] > QUIET:
        text += (
            f" **Provisional, no comparison**: other programs took {found['others']:.0%} of the "
            "machine, which slows tools whose threads spin far more than polybake's."
        )
    return text


def _name(row: Row) -> str:
    title = f"**{row['title']}**" if ours(row) else row["title"]
    return f"{title} | {LANGUAGES[row['language']]}"


def _cosine(smallest: float) -> str:
    """Rounded down, as what is not equal may not look so."""
    return "1" if smallest > 1 - 1e-6 else f"{int(smallest * 1000) / 1000:.3f}"
