"""What model folders of other libraries, and weights, are refused for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from models.files.task_models import write_gliner, write_labelled, write_m3
from models.folders.causal import write_logit_score
from models.folders.stanford import write_stanford
from models.folders.tiny_folders import (
    CONFIG,
    VOCABULARY,
    change_json,
    write_bert,
    write_json,
    write_tokenizer,
)
from models.folders.torch_saved import write_torch
from models.formulas.decoder_numpy import DECODER, decoder_weights
from models.formulas.jina_v3_numpy import CONFIG as ADAPTED
from models.formulas.jina_v3_numpy import weights as adapted_weights
from models.onnx.tiny_onnx import write_encoder
from remedies.followed import MEAN, bake, refused

CODE = {"auto_map": {"AutoModel": "modeling.OwnModel"}}


def write_decoder(folder: Path, **keys: Any) -> Path:
    """A decoder whose config.json has these keys."""
    config = DECODER | {"model_type": "qwen3", "head_dim": 10} | keys
    return write_bert(folder, config, decoder_weights(10, norms=True))


def write_model2vec(folder: Path) -> Path:
    """A table of tokens."""
    folder.mkdir()
    write_tokenizer(folder)
    write_json(folder / "config.json", {"model_type": "model2vec", "normalize": True})
    table = np.random.default_rng(1).normal(size=(len(VOCABULARY), 3)).astype(np.float32)
    save_file({"embeddings": table}, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize(
    ("name", "write", "key"),
    [
        ("sources/__init__.py: {_no_decoder(attention)}", write_encoder, "attention"),
        ("sources/__init__.py: {_no_adapters(adapter)}", write_encoder, "adapter"),
        ("sources/__init__.py: {_no_decoder(folder.attention)}", write_model2vec, "attention"),
        ("sources/__init__.py: {_no_adapters(folder.adapter)}", write_model2vec, "adapter"),
    ],
)
def test_a_setting_of_encoders_is_left_out(
    tmp_path: Path, name: str, write: Callable[[Path], Path], key: str
) -> None:
    """Where there is none to set."""
    source = write(tmp_path / "model")
    steps = {"steps": MEAN} if source.is_file() else {}
    with refused(name, f"has no .*causal.*; leave out {key}"):
        bake(source, **steps, **{key: "causal"})
    bake(source, **steps)


def test_no_encoder_for_pytorch(tmp_path: Path) -> None:
    """A table is no network."""
    folder = write_model2vec(tmp_path / "model")
    name = "sources/__init__.py: has no encoder that PyTorch could export"
    with refused(name, 'leave out encoder = "torch"'):
        bake(folder, encoder="torch")
    bake(folder)


def test_what_attention_a_decoder_has(tmp_path: Path) -> None:
    """Where its own code decides, polybake.toml says it; elsewhere config.json does."""
    folder = write_decoder(tmp_path / "model", **CODE)
    name = "known_keys.py: or, if vectors are right without"
    with refused(name, r'auto_map: .* say below .*attention = "both", or'):
        bake(folder, steps=MEAN)
    bake(folder, steps=MEAN, attention="both")
    write_decoder(folder, is_causal=True)
    with refused("encoders/decoder.py: leave one out", 'is_causal .*"both".*leave one out'):
        bake(folder, steps=MEAN, attention="both")
    bake(folder, steps=MEAN)
    write_decoder(folder)
    bake(folder, steps=MEAN, attention="both")


def test_keys_that_contradict_each_other(tmp_path: Path) -> None:
    """One of them is kept."""
    both = {"is_causal": True, "use_bidirectional_attention": True}
    folder = write_decoder(tmp_path / "model", **both)
    name = "encoders/decoder.py: contradict each other"
    with refused(name, "is_causal and use_bidirectional_attention contradict .*; keep what the"):
        bake(folder, steps=MEAN)
    for key in both:
        bake(write_decoder(folder, **{key: True}), steps=MEAN)


def test_adapters(tmp_path: Path) -> None:
    """A known one is chosen, or none."""
    folder = write_bert(tmp_path / "model", ADAPTED, adapted_weights())
    name = "encoders/xlm_roberta_flash.py: known are"
    with refused(name, 'has no adapter "other"; known are: .*retrieval.query'):
        bake(folder, steps=MEAN, adapter="other")
    bake(folder, steps=MEAN, adapter="retrieval.query")
    plain = {key: one for key, one in adapted_weights().items() if "lora" not in key}
    plain = {
        key.replace(".parametrizations.weight.original", ".weight"): plain[key] for key in plain
    }
    write_bert(folder, ADAPTED, plain)
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


def test_tokens_without_a_weight(tmp_path: Path) -> None:
    """BGE-M3's are named."""
    folder = write_m3(tmp_path / "model")
    change_json(folder / "tokenizer_config.json", eos_token=None)
    name = "sources/heads/bge_m3.py: name it there"
    with refused(name, "eos_token = None, expected a token of the vocabulary, .*; name it"):
        bake(folder, task="hybrid")
    change_json(folder / "tokenizer_config.json", eos_token="[SEP]")
    bake(folder, task="hybrid")


def test_unknown_keys(tmp_path: Path) -> None:
    """They are allowed, or an export has what they do."""
    folder = write_bert(tmp_path / "model", CONFIG | {"voice_id": 3})
    name = "sources/checkpoint.py: config.json {kind}"
    message = r'key voice_id = 3, .*; export this .* or, if .* say allow_unknown = \["voice_id"\]'
    with refused(name, message):
        bake(folder, steps=MEAN)
    bake(folder, steps=MEAN, allow_unknown=["voice_id"])
    bake(write_encoder(tmp_path / "exported"), steps=MEAN)


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
    """A link's target is put there, and a name that leads out is another one."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").rename(tmp_path / "weights")
    (folder / "model.safetensors").symlink_to(tmp_path / "weights")
    with refused("model_folder.py: links to", "; put the file itself into the folder"):
        bake(folder, steps=MEAN)
    (folder / "model.safetensors").unlink()
    (tmp_path / "weights").rename(folder / "model.safetensors")
    bake(folder, steps=MEAN)
    write_linear(folder / "dense")
    name = "model_folder.py: {name} lies outside"
    with refused(name, "'../dense' lies outside the model's folder; name a file within"):
        bake(folder, steps=[*MEAN, {"step": "dense", "source": "../dense"}])
    with refused("model_folder.py: cannot be read", "too long.; name a file within the folder"):
        bake(folder, steps=[*MEAN, {"step": "dense", "source": "d" * 300}])
    bake(folder, steps=[*MEAN, {"step": "dense", "source": "dense"}])


def write_linear(folder: Path) -> None:
    """A module of sentence-transformers."""
    folder.mkdir()
    write_json(folder / "config.json", {"bias": False})
    weight = np.ones((5, CONFIG["hidden_size"]), np.float32)
    save_file({"linear.weight": weight}, folder / "model.safetensors")


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


def test_weights_that_are_one(tmp_path: Path) -> None:
    """config.json says so or not."""
    folder = write_logit_score(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    own = weights["model.embed_tokens.weight"] + np.float32(1)
    save_file(weights | {"lm_head.weight": own}, folder / "model.safetensors")
    with refused(
        "causal_lm.py: correct it, or save", "tie_word_embeddings = true.; correct it, or"
    ):
        bake(folder)
    change_json(folder / "config.json", tie_word_embeddings=False)
    bake(folder)


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


def test_a_chat_template(tmp_path: Path) -> None:
    """Without it, texts are as they are."""
    folder = write_decoder(tmp_path / "model")
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    name = "sources/hugging_face.py: through which sentence-transformers"
    with refused(name, "has chat_template.jinja, .*; bake what .* saves, remove it to embed texts"):
        bake(folder, steps=MEAN)
    (folder / "chat_template.jinja").unlink()
    bake(folder, steps=MEAN)


def test_labels_are_counted(tmp_path: Path) -> None:
    """A setting of another type is corrected."""
    folder = write_labelled(tmp_path / "model", "no", "yes")
    before = (folder / "config.json").read_text("utf-8")
    change_json(folder / "config.json", id2label={"1": "no", "2": "yes"})
    with refused("model_folder.py: {path}: {first_fault(error)}; {remedy}", "0 to 1"):
        bake(folder)
    (folder / "config.json").write_text(before, encoding="utf-8")
    bake(folder)


def test_settings_of_model2vec(tmp_path: Path) -> None:
    """They are set as the message says."""
    folder = write_model2vec(tmp_path / "model")
    change_json(folder / "config.json", max_length=0)
    with refused(
        "model2vec.py: config.json", "found 0; set max_length to a positive number or null"
    ):
        bake(folder)
    change_json(folder / "config.json", max_length=9)
    bake(folder)
