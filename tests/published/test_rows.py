"""Shapes and docs/support.md list the same models, and the table of models their steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.files.published_models import published
from published.rows import names_of
from published.shape import Module, Shape, shapes
from support.oracle.published_models import REMEDY, parse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "support.md"


def test_no_model_is_listed_twice() -> None:
    """Each repository stands in the list once, with its own shape or beside another."""
    names = [name for shape in shapes() for name in (shape.repository, *shape.also)]
    assert sorted(names) == sorted({*names})


def test_the_page_lists_the_shapes() -> None:
    """No published model is missing in the table, and none is left over."""
    listed = {name for shape in shapes() for name in names_of(shape)}
    shown = parse(PAGE.read_text("utf-8")).keys()
    assert shown == listed, f"to write the table anew: {REMEDY}"


_SHAPES = {shape.repository: shape for shape in shapes() if shape.modules}
_MODE = "pooling_mode_"


def step_of(module: Module) -> dict[str, str]:
    """The step of a module, without weights."""
    name = module.type.rpartition(".")[2]
    if name != "Pooling":
        return {"step": name.lower()}
    (mode,) = (key for key, one in (module.config or {}).items() if key.startswith(_MODE) and one)
    mode = mode.removeprefix(_MODE).removesuffix("_tokens").removesuffix("_token")
    return {"step": "pool", "mode": mode}


@pytest.mark.parametrize("shape", _SHAPES.values(), ids=_SHAPES)
def test_the_table_and_modules_json_agree(shape: Shape) -> None:
    """A model that stands in both has the same steps there."""
    for name in (shape.repository, *shape.also):
        known = published(name)
        if known is not None and known.steps:
            assert [*known.steps] == [step_of(module) for module in (shape.modules or [])[1:]]
