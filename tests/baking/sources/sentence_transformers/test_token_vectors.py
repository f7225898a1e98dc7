"""Queries and documents as routes of one graph, and what cannot be one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.files.task_models import write_colbert
from models.folders.tiny_folders import write_json
from polybake.baking.sources import open_source
from polybake.baking.sources.expanded_encoder import ExpandedEncoder
from polybake.errors import InputError


@pytest.mark.parametrize(
    ("settings", "limits", "widths"),
    [
        ({"query_expansion": None}, (24, 32), (0, 0)),
        ({"query_expansion": None, "query_length": 7}, (24, 7), (0, 0)),
        ({"query_expansion": {"strategy": "min", "length": 9, "token": "a"}}, (24, 32), (0, 9)),
        ({"document_length": 500}, (32, 9), (0, 9)),
    ],
)
def test_limits(
    settings: dict[str, Any], limits: tuple[int, int], widths: tuple[int, int], tmp_path: Path
) -> None:
    """None is beyond what the model takes."""
    encoder = open_source(write_colbert(tmp_path / "m", **settings)).encoder
    assert isinstance(encoder, ExpandedEncoder)
    found = encoder.expansion
    assert (found.limits, found.widths) == (limits, widths)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"query_expansion": {"strategy": "fixed", "length": 99, "token": "a"}}, "99 tokens"),
        ({"query_expansion": {"strategy": "fixed", "length": 9}}, "'the mask token', which is no"),
        (
            {"query_expansion": {"strategy": "fixed", "length": 9, "token": "no"}},
            "filled up with 'no'",
        ),
        ({"query_expansion": {"strategy": "other", "length": 9}}, "strategy"),
    ],
)
def test_what_cannot_be_baked(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Each with its value."""
    with pytest.raises(InputError, match=message):
        open_source(write_colbert(tmp_path / "m", **settings))


def test_padding_on_the_left_is_refused(tmp_path: Path) -> None:
    """Queries are filled up where they end."""
    folder = write_colbert(tmp_path / "m")
    write_json(folder / "tokenizer_config.json", {"padding_side": "left", "pad_token": "[PAD]"})
    with pytest.raises(InputError, match="padding_side is left"):
        open_source(folder)


def test_an_exported_encoder_is_refused(tmp_path: Path) -> None:
    """Its rows are what they are."""
    folder = write_colbert(tmp_path / "m")
    with pytest.raises(InputError, match="leave the encoder option out"):
        open_source(folder, "torch")
