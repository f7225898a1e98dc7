"""The steps that the table of published models lists are those that their shapes have."""

from __future__ import annotations

import pytest

from polybake.base.files.published_models import published
from published.shape import Module, Shape, shapes

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
