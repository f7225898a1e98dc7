"""Copy a model folder with its weights rounded to bfloat16, as many checkpoints are published.

``python bench/bfloat16_source.py SOURCE TARGET``
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import ml_dtypes
from safetensors.numpy import load_file, save_file


def main(source: Path, target: Path) -> None:
    """Write the copy; whatever is no weight stays as it is."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    weights = load_file(source / "model.safetensors")
    narrow = {
        name: weight.astype(ml_dtypes.bfloat16) if weight.dtype.kind == "f" else weight
        for name, weight in weights.items()
    }
    save_file(narrow, target / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
