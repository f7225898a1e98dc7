"""Write a comparison's plot, and the page with its tables, beside its results.

Usage: python bench/peers/report.py RESULTS.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from plot import draw
from tables import page


def main(results: Path) -> None:
    """Write the picture, and the page that shows it with all particulars."""
    found = json.loads(results.read_text(encoding="utf-8"))
    plot = results.with_suffix(".svg")
    draw(found, plot)
    results.with_suffix(".md").write_text(page(found, plot.name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
