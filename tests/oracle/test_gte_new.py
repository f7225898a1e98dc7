"""GTE's first checkpoints against transformers' GTE, with their NTK scaling.

``new`` and ``gte`` name the same weights alike. The checkpoints' own code is not run; its formula
is given here.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers.models.gte.modeling_gte as gte
from safetensors.numpy import load_file, save_file

from models.folders.heads import saved_rotary
from models.folders.rotary import KINDS, save_kind
from models.folders.tiny_folders import change_json
from polybake.baking.golden.texts import CaseText
from support.oracle.agreement import (
    agreement_with_cross_encoder,
    agreement_with_source,
    bake_source,
)
from support.oracle.proven import HUGGING_FACE, Proven

TEXTS = ("the river", "", "a boat in the water: query, passage.", "water boats, " * 30)
THETA = 50.0


def ntk(factor: float) -> Any:
    """Pair i turns by (factor * theta) ** (-2 * i / size) / factor ** (2 / size) a position."""

    def parameters(config: Any, **_: Any) -> tuple[Any, float]:
        size = config.hidden_size // config.num_attention_heads
        exponents = torch.arange(0, size, 2, dtype=torch.float) / size
        return 1.0 / (factor * THETA) ** exponents / factor ** (2 / size), 1.0

    return staticmethod(parameters)


def rename(config: Path, architecture: str, factor: float | None) -> None:
    """Make a configuration of transformers' GTE one of the first checkpoints."""
    change_json(
        config,
        model_type="new",
        architectures=[architecture],
        auto_map={"AutoModel": f"modeling.{architecture}"},
        layer_norm_type="layer_norm",
        logn_attention_scale=False,
        pack_qkv=True,
        position_embedding_type="rope",
        rope_parameters=None,
        rope_theta=THETA,
        rope_scaling=factor and {"type": "ntk", "factor": factor},
    )


@pytest.mark.parametrize(
    ("kind", "saved", "factor"),
    [
        ("new (GTE), NTK scaling", "gte", 8.0),
        ("new (GTE), no token types", "gte, no token types", 2.0),
        ("new (GTE), no scaling", "gte", None),
    ],
)
def test_first_checkpoints_agree(
    kind: str,
    saved: str,
    factor: float | None,
    tmp_path: Path,
    proven: Proven,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ids are equal and vectors agree when config.json is as the first checkpoints have it."""
    library = save_kind(KINDS[saved], tmp_path / "library")
    folder = tmp_path / "model"
    shutil.copytree(library, folder)
    rename(folder / "config.json", "NewModel", factor)
    if factor:
        monkeypatch.setattr(gte.GteRotaryEmbedding, "compute_default_rope_parameters", ntk(factor))
    cases = [CaseText("batch", "", (), None, TEXTS)]
    cases += [CaseText(f"alone-{i}", "", (), None, (text,)) for i, text in enumerate(TEXTS)]
    baked = bake_source(folder, tmp_path / "baked.onnx")
    proven(kind, agreement_with_source(library, baked, cases))


def test_first_reranker_agrees(
    tmp_path: Path, proven: Proven, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids are equal and scores agree where the head is ``NewForSequenceClassification``'s."""
    library = saved_rotary(tmp_path / "library", "gte, two token types", ("LABEL_0",))
    folder = tmp_path / "model"
    shutil.copytree(library, folder)
    rename(folder / "config.json", "NewForSequenceClassification", 8.0)
    weights = load_file(folder / "model.safetensors")
    named = {name.replace("gte.", "new."): array for name, array in weights.items()}
    save_file(named, folder / "model.safetensors")
    monkeypatch.setattr(gte.GteRotaryEmbedding, "compute_default_rope_parameters", ntk(8.0))
    found = agreement_with_cross_encoder(folder, tmp_path / "tiny.onnx", library)
    proven("new (GTE) reranker", found, source=HUGGING_FACE)
