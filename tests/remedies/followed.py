"""A source is refused, the refusal's remedy is done to the letter, and the source bakes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from polybake.baking.bake import BakeReport
from polybake.baking.bake_config import bake_config
from polybake.base.modelfile.container import read_head
from polybake.config import load_config
from polybake.errors import InputError
from polybake.runtime.session import open_session
from remedies.refusals import named

MEAN = [{"step": "pool", "mode": "mean"}]


def bake(source: Path, **tables: Any) -> BakeReport:
    """Bake by a polybake.toml beside the source's folder, and open the file.

    Args:
        source: A folder or an .onnx file.
        tables: ``steps``, ``prompts`` and ``rerank``; all else are keys of ``[model]``.
    """
    folder = source if source.is_dir() else source.parent
    others = {name: tables.pop(name) for name in ("steps", "prompts", "rerank") if name in tables}
    model = {"name": "tiny", "source": str(source), "output": "tiny.onnx", **tables}
    path = folder.parent / "polybake.toml"
    path.write_text(tomlkit.dumps({"model": model, **others}), encoding="utf-8")
    report = bake_config(load_config(path))
    assert read_head(report.path).manifest.name == "tiny"
    open_session(report.path)
    return report


@contextmanager
def refused(name: str, message: str) -> Iterator[None]:
    """What stands within is refused by this refusal, with this found value and remedy.

    Args:
        name: A name of `remedies.refusals.named`.
        message: A regular expression that the message has.
    """
    refusal = named(name)
    with pytest.raises(InputError) as raised:
        yield
    said = str(raised.value)
    assert re.search(refusal.pattern, said, re.DOTALL), f"another refusal: {said}"
    assert re.search(message, said, re.DOTALL), said
