"""What model folders of other libraries, and weights, are refused for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from models.files.task_models import write_gliner, write_m3
from models.folders.stanford import write_stanford
from models.folders.tiny_folders import (
    CONFIG,
    change_json,
    write_bert,
    write_json,
)
from models.folders.torch_saved import write_torch
from models.formulas.jina_v3_numpy import CONFIG as ADAPTED
from models.formulas.jina_v3_numpy import weights as adapted_weights
from models.onnx.tiny_onnx import write_encoder
from remedies.followed import MEAN, bake, refused
from remedies.models import words

pytestmark = pytest.mark.slow


def test_adapters(tmp_path: Path) -> None:
    """Where the weights have none, none is chosen."""
    plain = {key: one for key, one in adapted_weights().items() if "lora" not in key}
    plain = {
        key.replace(".parametrizations.weight.original", ".weight"): plain[key] for key in plain
    }
    folder = write_bert(tmp_path / "model", ADAPTED, plain)
    name = "encoders/xlm_roberta_flash.py: though config.json names some"
    with refused(name, "holds no adapters, .*; leave adapter out, or download it again"):
        bake(folder, steps=MEAN, adapter="retrieval.query")
    bake(folder, steps=MEAN)


def test_weights_that_are_an_export(tmp_path: Path) -> None:
    """The export is given."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    file = write_encoder(folder)
    name = "sources/checkpoint.py: {exports[0]} instead"
    with refused(name, f"has no model.safetensors; give its {file} instead"):
        bake(folder, steps=MEAN)
    bake(file, steps=MEAN)


def test_weights_that_are_a_pickle(tmp_path: Path) -> None:
    """Their tensors are read alone."""
    folder = write_bert(tmp_path / "model")
    write_torch(folder / "pytorch_model.bin", load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").unlink()
    name = "sources/checkpoint.py: write it with transformers"
    with refused(name, r'pytorch_model.bin is a pickle.*; or, .* say pickle = "tensors" below'):
        bake(folder, steps=MEAN)
    bake(folder, steps=MEAN, pickle="tensors")
    folder = write_gliner(tmp_path / "gliner")
    write_torch(folder / "pytorch_model.bin", load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").unlink()
    name = "sources/gliner.py: save the model with a recent gliner"
    with refused(name, 'has no model.safetensors; save .*; or, .* say pickle = "tensors" below'):
        bake(folder)
    bake(folder, pickle="tensors")


def test_layers_that_are_a_pickle(tmp_path: Path) -> None:
    """BGE-M3's are read, or left out."""
    folder = write_m3(tmp_path / "model")
    for layer in ("sparse_linear", "colbert_linear"):
        write_torch(folder / f"{layer}.pt", load_file(folder / f"{layer}.safetensors"))
        (folder / f"{layer}.safetensors").unlink()
    name = "sources/heads/bge_m3.py: is a pickle"
    with refused(name, 'say pickle = "tensors" .*, or say task = "embed" for the dense vectors'):
        bake(folder, task="hybrid")
    bake(folder, task="hybrid", pickle="tensors")
    bake(folder, task="embed")


def test_stanfords_metadata(tmp_path: Path) -> None:
    """They are copied from the repository."""
    folder = write_stanford(tmp_path / "model")
    metadata = folder / "artifact.metadata"
    metadata.rename(tmp_path / "repository")
    name = "sources/sentence_transformers/stanford_colbert.py: copy it"
    with refused(name, "has no artifact.metadata; copy it from the model's repository"):
        bake(folder)
    shutil.copy(tmp_path / "repository", metadata)
    bake(folder)


def test_settings_of_gliner_s_encoder(tmp_path: Path) -> None:
    """What gliner would download is put into the folder."""
    folder = write_gliner(tmp_path / "model")
    settings = folder / "gliner_config.json"
    kept = write_gliner(tmp_path / "encoder")
    change_json(settings, encoder_config=None, model_name="microsoft/deberta-v3-small")
    name = "sources/gliner.py: has no encoder_config"
    with refused(name, "put config.json .* of microsoft/deberta-v3-small into the folder"):
        bake(folder)
    encoder = json.loads((kept / "gliner_config.json").read_text("utf-8"))["encoder_config"]
    write_json(folder / "config.json", encoder)
    bake(folder)


def test_files_lie_within_the_folder(tmp_path: Path) -> None:
    """A link's target is put there."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").rename(tmp_path / "weights")
    (folder / "model.safetensors").symlink_to(tmp_path / "weights")
    with refused("model_folder.py: links to", "; put the file itself into the folder"):
        bake(folder, steps=MEAN)
    (folder / "model.safetensors").unlink()
    (tmp_path / "weights").rename(folder / "model.safetensors")
    bake(folder, steps=MEAN)


def test_a_module_s_source_is_named(tmp_path: Path) -> None:
    """It lies in the model's folder."""
    folder = write_bert(tmp_path / "model")
    (folder / "1_CNN").mkdir()
    write_json(folder / "1_CNN" / "cnn_config.json", {"out_channels": 5, "kernel_sizes": [1]})
    arrays = {"convs.0.weight": (5, CONFIG["hidden_size"], 1), "convs.0.bias": (5,)}
    ones = {name: np.ones(shape, np.float32) for name, shape in arrays.items()}
    save_file(ones, folder / "1_CNN" / "model.safetensors")
    name = "step_files.py: name a folder inside"
    with refused(name, r"steps\[0\].source: is missing; name a folder inside the model's folder"):
        bake(folder, steps=[{"step": "cnn"}, *MEAN])
    bake(folder, steps=[{"step": "cnn", "source": "1_CNN"}, *MEAN])


def test_a_folder_of_no_library(tmp_path: Path) -> None:
    """The folder within it is given, or the file."""
    folder = write_bert(tmp_path / "model" / "inner")
    write_encoder(folder / "onnx")
    with refused("sources/kind.py: has neither", "; give the folder that .* or an .onnx"):
        bake(folder.parent, steps=MEAN)
    with refused("sources/__init__.py: is no model folder", "give the path of one of these"):
        bake(tmp_path / "missing" / "model", steps=MEAN)
    bake(folder, steps=MEAN)
    bake(folder / "onnx" / "model.onnx", steps=MEAN)


def test_words_in_capital_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same words without."""
    monkeypatch.setattr("polybake.runtime.tokenization.word_tokenizer._MOST_MARKED", 1)
    folder = words(tmp_path / "model")
    tokenizer = folder / "whitespacetokenizer_config.json"
    change_json(tokenizer, vocab=["River", "Boat"])
    with refused("word_tokenizer.py: save it with do_lower_case", "2 words .*; save it with"):
        bake(folder, steps=MEAN)
    change_json(tokenizer, vocab=["river", "boat"], do_lower_case=True)
    bake(folder, steps=MEAN)


def test_a_published_model_without_its_layer(tmp_path: Path) -> None:
    """Its steps are listed, with the layer's weights."""
    name = "models--sentence-transformers--distiluse-base-multilingual-cased-v2"
    folder = write_bert(tmp_path / name / "snapshots" / ("a" * 40))
    with refused("tasks/embed.py: are not here", "weights of dense are not here; .*, or list the"):
        bake(folder)
    np.save(folder.parent / "weight.npy", np.ones((5, CONFIG["hidden_size"]), np.float32))
    bake(folder, steps=[*MEAN, {"step": "dense", "weight": "weight.npy"}])
