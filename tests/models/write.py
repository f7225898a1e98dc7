"""Write every tiny model that the oracle is asked about: python tests/write_models.py FOLDER.

Weights are random with a standard deviation of 0.2 and fixed seeds; each model is saved by
sentence-transformers to a folder of its kind.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from models import bert, rotary, torch_exported
from models.saved import save


def main(folder: Path) -> None:
    for kind, make in bert.KINDS.items():
        save(folder / slug(kind), *make())
    for kind, model in rotary.KINDS.items():
        rotary.save_kind(model, folder / slug(kind) / "saved")
    for kind, make in torch_exported.KINDS.items():
        torch_exported.saved(folder / slug(kind), make())


def slug(kind: str) -> str:
    return re.sub(r"\W+", "-", kind)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
