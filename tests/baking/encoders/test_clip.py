"""Where a text of CLIP ends; tests/oracle/test_clip.py has the library's vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.clip import PICTURES
from models.folders.drawn import DRAWN, drawn_weights
from models.folders.tiny_folders import write_bert
from models.parts.tiny_encoders import token_embeddings

BERT = DRAWN["bert"].items()
TEXT: dict[str, Any] = {key: value for key, value in BERT if key != "type_vocab_size"}


@pytest.mark.parametrize(
    ("end", "ids", "last"),
    [
        (3, [2, 6, 3, 17, 8, 3], 2),
        (3, [2, 30, 8, 3, 3, 3], 3),
        (2, [2, 6, 30, 17, 30, 3], 2),
        (2, [2, 8, 30, 3, 40, 40], 2),
    ],
    ids=["spelt", "padding", "old", "old, padding"],
)
def test_the_first_end_counts(end: int, ids: list[int], last: int, tmp_path: Path) -> None:
    """A text that goes on gives what it gives up to there, as tokens see only those before them.

    Old configurations have the wrong id 2; there it is the first token of the largest id.
    """
    config = {"text_config": TEXT | {"eos_token_id": end}, "vision_config": PICTURES}
    weights = drawn_weights("clip", config)
    folder = write_bert(tmp_path / "model", config | {"model_type": "clip"}, weights)

    def embedded(row: list[int], kept: int) -> np.ndarray:
        mask = (np.arange(len(row)) < kept).astype(np.int64)[None]
        return token_embeddings(folder, tmp_path, input_ids=np.array([row]), attention_mask=mask)

    found, expected = embedded(ids, 4), embedded(ids[: last + 1], last + 1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.abs(found - embedded(ids[:last], last)).max() > 1e-2
