"""Every published model of the list becomes what the list says: a task, or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from published.end import end_of
from published.rows import rows_of
from published.shape import Shape, shapes

pytestmark = pytest.mark.guards

SHAPES = {shape.repository: shape for shape in shapes()}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_end(shape: Shape, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """A folder of this shape bakes for its task and dimension, or is refused with its reason."""
    folder = shape.write(tmp_path)
    found = end_of(folder, shape.table)
    if "pickle" in shape.table:
        assert "has no model.safetensors" in end_of(folder, {}).message
    message = found.message.replace(str(folder), shape.repository.replace("/", "--"))
    record_property("shape", [shape.repository, found.task, found.dimension, message])
    record_property("models", 1 + len(shape.also))
    record_property("published", [list(row) for row in rows_of(shape, found, message)])
    record_property("listed", len(SHAPES))
    assert found.task == shape.bakes, message
    assert not shape.dimension or found.dimension == shape.dimension
    assert shape.refused in message
