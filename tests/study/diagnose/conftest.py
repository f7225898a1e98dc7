"""A model whose texts, prompts and limits matter, with texts that tell departures apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.files.prompted import write_prompted
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.way import Ways

WORDS = [
    *("the", "water", "river", "boat", "boats", "sails,", "on", "Water.", "RIVER"),
    *("Über", "cafe\u0301", "Naïve", "\ufb01ne"),
]


@pytest.fixture(scope="session")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model file."""
    return write_prompted(tmp_path_factory.mktemp("model") / "model.onnx")


@pytest.fixture(scope="session")
def dissected(prompted: Path) -> Dissection:
    """The model file taken apart."""
    return Dissection.read(prompted)


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Short texts, and three that are cut."""
    random = np.random.default_rng(0)
    counts = [*random.integers(2, 12, 12), 40, 60, 90]
    return [" ".join(random.choice(WORDS, count)) for count in counts]


@pytest.fixture(scope="session")
def ways(dissected: Dissection, texts: list[str]) -> Ways:
    """The vectors of these texts as documents, by each way of computing them."""
    return Ways(dissected, texts, "document")
