"""A model of the Hugging Face hub against sentence-transformers, which reads the same cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hub_cache import write_cache
from proven import Proven
from saved_models import MAX_LENGTH, bake_folder, difference_to, save, wordpiece_vocabulary

pytestmark = pytest.mark.oracle
pytest.importorskip("sentence_transformers")


def bert() -> tuple[Any, Any]:
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = wordpiece_vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=40,
        max_position_embeddings=MAX_LENGTH + 7,
    )
    return BertModel(config), BertTokenizer(vocab=vocabulary)


def test_agrees_from_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proven: Proven
) -> None:
    """A snapshot, which is made of links, is baked by its repository's name."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    snapshot = write_cache(tmp_path / "cache", "owner/tiny", save(tmp_path, *bert()))
    baked = bake_folder(Path("hub:owner/tiny"), tmp_path / "tiny.onnx")
    found = difference_to(snapshot, baked)
    print(f"\nhub: largest difference {found:.2e}")  # noqa: T201
    proven(kind="bert", source="hub", steps="pool(mode=mean)", difference=found)
