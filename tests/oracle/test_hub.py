"""A model of the Hugging Face hub against sentence-transformers, which reads the same cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.bert import bert
from models.folders.saved import save
from support.hub.hub_cache import write_cache
from support.oracle.agreement import agreement_with_source, bake_source
from support.oracle.proven import Proven


def test_agrees_from_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proven: Proven
) -> None:
    """A snapshot, which is made of links, is baked by its repository's name."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    snapshot = write_cache(tmp_path / "cache", "owner/tiny", save(tmp_path, *bert()))
    baked = bake_source("hub:owner/tiny", tmp_path / "tiny.onnx", folder=snapshot)
    proven("bert", agreement_with_source(snapshot, baked), source="hub")
