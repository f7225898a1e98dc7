"""Decoders whose own code lets tokens attend to both sides, against transformers and a layer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from golden_oracle import golden
from models.folders.rotary import GROUPED, MISTRAL, QWEN2, QWEN3, Kind, one, save_kind
from models.folders.seeded import randomise
from models.folders.tiny_folders import change_json, write_json
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import agreement, agreement_with_source, bake, quantized
from support.oracle.proven import Proven

BOTH_WAYS = {"is_causal": False}
QWEN3_BOTH = Kind("Qwen3", QWEN3.settings, "mean", BOTH_WAYS)
LLAMA_BOTH = Kind("Llama", GROUPED | {"rope_parameters": one(50.0)}, "mean", BOTH_WAYS)
KINDS = {
    "qwen2": Kind("Qwen2", QWEN2.settings, "mean", BOTH_WAYS),
    "qwen3": QWEN3_BOTH,
    "mistral": Kind("Mistral", GROUPED | MISTRAL, "mean", BOTH_WAYS),
}
TEXTS = ("the river", "", "a boat in the water: query, passage.", "water boats, " * 30)
CASES = [CaseText("batch", "", (), None, TEXTS)]
CASES += [CaseText(f"alone-{i}", "", (), None, (text,)) for i, text in enumerate(TEXTS)]


@pytest.mark.parametrize("name", KINDS)
def test_attention_that_the_user_says(name: str, tmp_path: Path, proven: Proven) -> None:
    """A folder of gte-Qwen2's or KaLM's shape, and the user's word, are what is_causal says."""
    library = save_kind(KINDS[name], tmp_path / "library")
    folder = copied(library, tmp_path / "model")
    change_json(
        folder / "config.json", is_causal=None, auto_map={"AutoModel": "modeling_qwen.Qwen2Model"}
    )
    baked = tmp_path / "baked.onnx"
    bake(folder, baked, name="tiny", attention="both")
    proven(
        f"{name}, both ways as the user says",
        agreement_with_source(library, baked, CASES),
    )


def test_voyages_class(tmp_path: Path, proven: Proven) -> None:
    """Its last layer gives a token what a Dense gives the mean: both are linear."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    saved = save_kind(QWEN3_BOTH, tmp_path / "saved")
    layer = Dense(24, 36, bias=False, activation_function=torch.nn.Identity())
    randomise(layer)
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
    bake(folder, baked, name="tiny")
    found = agreement_with_source(tmp_path / "library", baked, CASES)
    proven("qwen3, Voyage's class", found)


def test_nvidias_class(tmp_path: Path, proven: Proven) -> None:
    """Its code is a Llama whose tokens attend to both sides; is_causal says so to the library."""
    library = save_kind(LLAMA_BOTH, tmp_path / "library")
    folder = copied(library, tmp_path / "model")
    code = "llama_bidirectional_model.LlamaBidirectional"
    change_json(
        folder / "config.json",
        model_type="llama_bidirec",
        architectures=["LlamaBidirectionalModel"],
        auto_map={"AutoConfig": f"{code}Config", "AutoModel": f"{code}Model"},
        is_causal=None,
    )
    baked = tmp_path / "baked.onnx"
    bake(folder, baked, name="tiny")
    proven("llama_bidirec", agreement_with_source(library, baked, CASES))


def copied(saved: Path, folder: Path) -> Path:
    shutil.copytree(saved, folder)
    return folder


def test_perplexitys_class(tmp_path: Path, proven: Proven) -> None:
    """Its quantizer gives 127 times the tangens of what the library's encoder gives, rounded."""
    library = save_kind(QWEN3_BOTH, tmp_path / "library")
    folder = copied(library, tmp_path / "model")
    code = "modeling.PPLXQwen3Model"
    changes = {"model_type": "bidirectional_pplx_qwen3", "architectures": ["PPLXQwen3Model"]}
    change_json(
        folder / "config.json",
        **changes,
        auto_map={"AutoModel": code},
        is_causal=None,
        use_bidirectional_attention=True,
    )
    listed = json.loads((folder / "modules.json").read_text("utf-8"))
    own = {"idx": 2, "name": "2", "path": "2_F", "type": "st_quantize.FlexibleQuantizer"}
    write_json(folder / "modules.json", [*listed, own])
    baked = tmp_path / "baked.onnx"
    bake(folder, baked, name="tiny")
    floats, _ = golden(library, CASES, read_head(baked).manifest.contract)

    def rounded(vectors: np.ndarray) -> np.ndarray:
        return torch.round(torch.tanh(torch.from_numpy(vectors)) * 127).numpy().astype(np.int8)

    found = agreement(baked, quantized(baked, floats, rounded))
    proven("bidirectional_pplx_qwen3, int8", found)
