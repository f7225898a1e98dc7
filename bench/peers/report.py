"""Write a comparison's plot and tables, beside its results and into the README.

Usage: python bench/peers/report.py RESULTS.json README.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from plot import draw
from tables import page, written


def main(results: Path, readme: Path) -> None:
    """Write the picture, the page with all particulars, and the README's part."""
    found = json.loads(results.read_text(encoding="utf-8"))
    plot = results.with_suffix(".svg")
    draw(found, plot)
    results.with_suffix(".md").write_text(page(found), encoding="utf-8")
    place = plot.resolve().relative_to(readme.resolve().parent).as_posix()
    text = written(readme.read_text(encoding="utf-8"), found, place)
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
