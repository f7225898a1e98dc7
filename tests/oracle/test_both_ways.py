"""Decoders whose own code lets tokens attend to both sides, against transformers and a layer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file

import polybake
from models.folders.rotary import KINDS, save_kind
from models.folders.tiny_folders import change_json
from polybake.baking.golden.texts import CaseText
from support.oracle.agreement import agreement_with_source
from support.oracle.proven import Proven

torch = pytest.importorskip("torch", reason="the oracle is not installed")
pytest.importorskip("sentence_transformers", reason="the oracle is not installed")

pytestmark = pytest.mark.oracle

TEXTS = ("the river", "", "a boat in the water: query, passage.", "water boats, " * 30)
CASES = [CaseText("batch", "", (), None, TEXTS)]
CASES += [CaseText(f"alone-{i}", "", (), None, (text,)) for i, text in enumerate(TEXTS)]


@pytest.mark.parametrize("name", ["qwen2, both ways", "qwen3, both ways"])
def test_attention_that_the_user_says(name: str, tmp_path: Path, proven: Proven) -> None:
    """A folder of gte-Qwen2's or KaLM's shape, and the user's word, are what is_causal says."""
    library = save_kind(KINDS[name], tmp_path / "library")
    folder = copied(library, tmp_path / "model")
    change_json(
        folder / "config.json", is_causal=None, auto_map={"AutoModel": "modeling_qwen.Qwen2Model"}
    )
    baked = tmp_path / "baked.onnx"
    polybake.bake(folder, baked, name="tiny", attention="both")
    proven(f"{name}, as the user says", agreement_with_source(library, baked, CASES), kept=False)


def test_voyages_class(tmp_path: Path, proven: Proven) -> None:
    """Its last layer gives a token what a Dense gives the mean: both are linear."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    saved = save_kind(KINDS["qwen3, both ways"], tmp_path / "saved")
    layer = Dense(24, 36, bias=False, activation_function=torch.nn.Identity())
    with torch.no_grad():
        layer.linear.weight.copy_(0.2 * torch.randn_like(layer.linear.weight))
    library = SentenceTransformer(str(saved), device="cpu")
    library.append(layer)
    library.save(str(tmp_path / "library"))
    folder = copied(saved, tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    named = {f"model.{name}": array for name, array in weights.items()}
    own = {"linear.weight": layer.linear.weight.detach().numpy()}
    save_file(named | own, folder / "model.safetensors")
    code = "modeling_qwen3_bidirectional.Qwen3Bidirectional"
    change_json(
        folder / "config.json",
        architectures=["Qwen3BidirectionalModel"],
        auto_map={"AutoConfig": f"{code}Config", "AutoModel": f"{code}Model"},
        num_labels=36,
        is_causal=None,
        use_bidirectional_attention=True,
    )
    baked = tmp_path / "baked.onnx"
    polybake.bake(folder, baked, name="tiny")
    found = agreement_with_source(tmp_path / "library", baked, CASES)
    proven("qwen3, Voyage's class", found, kept=False)


def copied(saved: Path, folder: Path) -> Path:
    shutil.copytree(saved, folder)
    return folder
