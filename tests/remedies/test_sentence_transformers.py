"""What folders of sentence-transformers are refused for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.files.task_models import write_labelled
from models.folders.tiny_folders import (
    change_json,
    write_json,
    write_sentence_transformers,
    write_two_encoders,
)
from models.folders.torch_saved import write_torch
from models.onnx.tiny_onnx import write_encoder
from remedies.followed import MEAN, bake, refused

pytestmark = pytest.mark.slow

POOLING = ("Pooling", {"pooling_mode": "mean"})
DENSE = ("Dense", {"in_features": 12, "out_features": 5, "bias": False})
LINEAR = {"linear.weight": np.random.default_rng(2).normal(size=(5, 12)).astype(np.float32)}


def write_dense(folder: Path) -> Path:
    """A model with a linear layer."""
    write_sentence_transformers(folder, POOLING, DENSE)
    save_file(LINEAR, folder / "2_Dense" / "model.safetensors")
    return folder


def list_modules(folder: Path, *kinds: str) -> None:
    """Write modules.json anew, each module in its old folder."""
    listed = json.loads((folder / "modules.json").read_text("utf-8"))
    for one, kind in zip(listed, kinds, strict=False):
        one["type"] = kind
    write_json(folder / "modules.json", listed)


@pytest.mark.parametrize(
    ("name", "kinds", "changes", "message"),
    [
        (
            "sentence_transformers/module.py: unknown module type",
            ["sentence_transformers.models.Transformer", "sentence_transformers.models.AudioModel"],
            {},
            "unknown module type '.*AudioModel'; known are: ",
        ),
        (
            "sentence_transformers/module.py: no code of a model is run",
            ["sentence_transformers.models.Transformer", "own.Pooling"],
            {},
            "module type 'own.Pooling' is none of sentence-transformers, .*, or",
        ),
        (
            "sentence_transformers/module_recipe.py: stands after the first module",
            ["sentence_transformers.models.Transformer"] * 2,
            {},
            "Transformer stands after the first module; expected",
        ),
        (
            "sentence_transformers/module_recipe.py: expected {shown} there",
            [],
            {"module_input_name": "token_scores"},
            "module_input_name is 'token_scores' .*; expected|, expected .* there",
        ),
        (
            "sentence_transformers/folder.py: {found}; expected one of",
            ["sentence_transformers.models.Pooling"],
            {},
            "begins with Pooling; expected one of: Transformer",
        ),
        (
            "sentence_transformers/saved_modules.py: {self.file}",
            [],
            {"scale": 2},
            "unknown key scale = 2, which may change vectors",
        ),
    ],
)
def test_the_steps_are_listed(
    tmp_path: Path, name: str, kinds: list[str], changes: dict[str, object], message: str
) -> None:
    """The encoder's export and its tokenizer lie in a folder of their own."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING, ("Normalize", {}))
    list_modules(folder, *kinds)
    place = "2_Normalize" if "module_input_name" in changes else "1_Pooling"
    change_json(folder / place / "config.json", **changes)
    with refused(name, f"{message}.*; put the encoder's .onnx|or put the enc"):
        bake(folder)
    own = tmp_path / "own"
    write_encoder(tmp_path / "export")
    own.mkdir()
    shutil.copy(tmp_path / "export" / "model.onnx", own)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / file, own)
    bake(own / "model.onnx", steps=[*MEAN, {"step": "normalize"}])


def test_a_prompt_of_a_cross_encoder(tmp_path: Path) -> None:
    """The scores without it."""
    folder = write_labelled(tmp_path / "model", "LABEL_0")
    kind = "sentence_transformers.base.modules.transformer.Transformer"
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    head = {"text": {"method": "forward", "method_output_name": "logits"}}
    module = {"transformer_task": "sequence-classification", "module_output_name": "scores"}
    write_json(folder / "sentence_bert_config.json", module | {"modality_config": head})
    settings = folder / "config_sentence_transformers.json"
    prompts = {"prompts": {"query": "q: "}, "default_prompt_name": "query"}
    write_json(settings, {"model_type": "CrossEncoder", **prompts})
    with refused("cross_encoder.py: default_prompt_name is", "'q: ', .*; set default_prompt_name"):
        bake(folder)
    change_json(settings, default_prompt_name=None)
    bake(folder)


def test_an_activation_of_another_class(tmp_path: Path) -> None:
    """One that is known is named, or a python step computes it."""
    folder = write_dense(tmp_path / "model")
    file = folder / "2_Dense" / "config.json"
    change_json(file, activation_function="torch.nn.Softsign")
    with refused("sources/torch_classes.py: unknown class", "Softsign'; name one of .*, or"):
        bake(folder)
    np.save(tmp_path / "weight.npy", LINEAR["linear.weight"])
    own = "def step(op, x):\n    return op.Softsign(x)\n"
    (tmp_path / "step.py").write_text(own)
    linear = {"step": "dense", "weight": "weight.npy", "activation": "identity"}
    bake(folder, steps=[*MEAN, linear, {"step": "python", "file": "step.py"}])
    change_json(file, activation_function="torch.nn.Tanh")
    bake(folder)


def test_a_module_s_pickle(tmp_path: Path) -> None:
    """Its tensors are read if the user says so."""
    folder = write_dense(tmp_path / "model")
    (folder / "2_Dense" / "model.safetensors").unlink()
    write_torch(folder / "2_Dense" / "pytorch_model.bin", LINEAR)
    name = "sources/module_weights.py: model.safetensors"
    with refused(name, 'has no model.safetensors; save .*; or, .* pickle = "tensors" below'):
        bake(folder)
    bake(folder, pickle="tensors")


def test_routes_of_other_tokenizers(tmp_path: Path) -> None:
    """Each route's encoder bakes as a model of its own."""
    folder = write_two_encoders(tmp_path / "model", do_lower_case=True)
    name = "sentence_transformers/encoder_per_route.py: different tokenizers"
    with refused(name, r"\(normalizer: .* and .*\); bake each route as a model of its own"):
        bake(folder)
    for route in ("q_bert", "d_bert"):
        bake(folder / route, steps=MEAN)


def test_an_export_of_one_route(tmp_path: Path) -> None:
    """The folder bakes itself."""
    folder = write_two_encoders(tmp_path / "model")
    file = write_encoder(folder)
    name = "sentence_transformers/folder.py: an .onnx file is one encoder"
    with refused(name, "routes query, document has an encoder .*; give the folder itself"):
        bake(file)
    bake(folder)
