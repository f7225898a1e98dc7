"""Tables of rows."""

from __future__ import annotations

import numpy as np
from onnxscript import ir

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.embedding import Embedding, PositionEmbedding, ScaledEmbedding

TABLE = np.arange(15, dtype=np.float32).reshape(5, 3)
IDS = np.array([[4, 0, 2], [1, 1, 3]])


def filled(embedding: Embedding) -> Embedding:
    embedding.load_state_dict({"weight": ir.tensor(TABLE)})
    return embedding


def test_rows_are_looked_up_by_id() -> None:
    """Whatever the shape of the ids."""
    found = run_graph(filled(Embedding(5, 3)), ids=IDS)
    assert found.tolist() == TABLE[IDS].tolist()


def test_rows_are_multiplied_by_the_root_of_their_size() -> None:
    """As Gemma's are."""
    found = run_graph(filled(ScaledEmbedding(5, 3)), ids=IDS)
    np.testing.assert_allclose(found, TABLE[IDS] * np.sqrt(3.0), rtol=1e-6)


def test_places_are_the_first_rows() -> None:
    """As many as a text has tokens, whatever their ids."""
    found = run_graph(filled(PositionEmbedding(5, 3)), ids=IDS)
    assert found.tolist() == TABLE[:3].tolist()
