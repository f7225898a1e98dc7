"""Models in other precisions, each baked once."""

import numpy as np
import pytest

from models.folders.drawn import InPrecision, bake_drawn
from models.folders.tiny_folders import VOCABULARY
from polybake.baking.bake import BakeReport


@pytest.fixture(scope="session")
def in_precision(tmp_path_factory: pytest.TempPathFactory) -> InPrecision:
    """The bake of a drawn kind in a precision."""
    folder, made = tmp_path_factory.mktemp("in_precision"), dict[tuple[str, str], BakeReport]()

    def lower(kind: str, precision: str) -> BakeReport:
        if (kind, precision) not in made:
            made[kind, precision] = bake_drawn(folder / kind / precision, kind, precision=precision)
        return made[kind, precision]

    return lower


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Texts of any length."""
    random = np.random.default_rng(1)
    return [" ".join(random.choice(VOCABULARY[5:], size)) for size in random.integers(1, 60, 30)]
