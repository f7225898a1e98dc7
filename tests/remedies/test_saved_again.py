"""Remedies that are done with the library that made a model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from models.folders.old_tokenizers import OLD, write_old
from models.folders.tiny_folders import (
    CONFIG,
    bert_weights,
    change_json,
    write_bert,
    write_sentence_transformers,
    write_tokenizer,
)
from remedies.followed import MEAN, bake, refused
from remedies.written import done

pytestmark = pytest.mark.oracle


def old(folder: Path, name: str, **settings: Any) -> Path:
    """A BERT with a tokenizer of the time before tokenizer.json."""
    config = CONFIG | {"vocab_size": 600}
    write_bert(folder, config, bert_weights(config))
    (folder / "tokenizer.json").unlink()
    return write_old(folder, name, **settings)


def test_a_tokenizer_is_written(tmp_path: Path) -> None:
    """The command of the message runs where it says."""
    folder = old(tmp_path / "model", "BertTokenizer", tokenizer_class="SplinterTokenizer")
    with refused("made_tokenizer.py: {beside}", "beside vocab.txt, .*; write it with: python -c "):
        bake(folder, steps=MEAN)
    code = (
        "from transformers import AutoTokenizer as T; T.from_pretrained('.').save_pretrained('.')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    bake(folder, steps=MEAN)


def test_a_tokenizer_without_its_files(tmp_path: Path) -> None:
    """Transformers writes one that knows no word; the files are downloaded in its place."""
    folder = old(tmp_path / "model", "RobertaTokenizer")
    for file in ("vocab.json", "merges.txt"):
        (folder / file).unlink()
    with refused(
        "made_tokenizer.py: download one or the other",
        "no vocab.json and merges.txt of which .*download",
    ):
        bake(folder, steps=MEAN)
    done("AGAIN", folder)
    with refused(
        "tokenizer_json.py: no letter", "has no letter and no digit .*; download the whol"
    ):
        bake(folder, steps=MEAN)
    (folder / "tokenizer.json").unlink()
    OLD["RobertaTokenizer"].write(folder)
    bake(folder, steps=MEAN)


def test_weights_are_written(tmp_path: Path) -> None:
    """As safetensors, with the class of the message."""
    import torch
    from transformers import AutoModel

    folder = write_bert(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    state = {name: torch.from_numpy(np.array(one)) for name, one in weights.items()}
    torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    (folder / "model.safetensors").unlink()
    message = (
        r"; write it with transformers: AutoModel.from_pretrained\(…\).save_pretrained\(…, safe"
    )
    with refused("sources/checkpoint.py: write it with transformers", message):
        bake(folder, steps=MEAN)
    with refused(
        "torch_file.py: a PyTorch before 1.6", r"torch.load\(…, weights_only=True\), and w"
    ):
        bake(folder, steps=MEAN, pickle="tensors")
    written = tmp_path / "written"
    AutoModel.from_pretrained(folder).save_pretrained(written, safe_serialization=True)
    write_tokenizer(written)
    bake(written, steps=MEAN)
    from safetensors.torch import save_file

    loaded = torch.load(folder / "pytorch_model.bin", weights_only=True)
    save_file(loaded, folder / "model.safetensors")
    bake(folder, steps=MEAN)


def test_a_module_is_saved(tmp_path: Path) -> None:
    """sentence-transformers reads a pickle and writes safetensors."""
    import torch
    from sentence_transformers import SentenceTransformer

    pooling = ("Pooling", {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True})
    dense = ("Dense", {"in_features": 12, "out_features": 5, "bias": False})
    folder = write_sentence_transformers(tmp_path / "model", pooling, dense)
    change_json(
        folder / "2_Dense" / "config.json", activation_function="torch.nn.modules.activation.Tanh"
    )
    torch.save({"linear.weight": torch.ones(5, 12)}, folder / "2_Dense" / "pytorch_model.bin")
    with refused(
        "module_weights.py: model.safetensors", "save the model again with sentence-trans"
    ):
        bake(folder)
    SentenceTransformer(str(folder), device="cpu").save_pretrained(str(tmp_path / "new"))
    bake(tmp_path / "new")


def test_a_chat_template(tmp_path: Path) -> None:
    """What sentence-transformers saves says how texts become messages."""
    from sentence_transformers import SentenceTransformer

    from models.folders.causal import write_language_model
    from models.folders.messages import CHATML

    folder = write_language_model(tmp_path / "model", architectures=["Qwen3Model"])
    (folder / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    name = "hugging_face.py: through which sentence-transformers"
    with refused(name, r"; bake what SentenceTransformer\(FOLDER\).save_pretrained\(NEW\) saves"):
        bake(folder, steps=MEAN)
    SentenceTransformer(str(folder), device="cpu").save_pretrained(str(tmp_path / "new"))
    bake(tmp_path / "new")


def test_an_encoder_of_pytorch(tmp_path: Path) -> None:
    """PyTorch exports what polybake does not build, and other settings are left out."""
    import transformers

    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", model_type="squeezebert", embedding_size=12)
    with refused("sources/checkpoint.py: unknown architecture", "'squeezebert'; .*--encoder torch"):
        bake(folder, steps=MEAN)
    model = transformers.SqueezeBertModel(transformers.SqueezeBertConfig.from_pretrained(folder))
    model.save_pretrained(folder)
    bake(folder, steps=MEAN, encoder="torch")


def test_pytorch_reads_no_pickle(tmp_path: Path) -> None:
    """Polybake does, or transformers writes safetensors."""
    import torch
    from transformers import AutoModel

    folder = write_bert(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    state = {name: torch.from_numpy(np.array(one)) for name, one in weights.items()}
    torch.save(state, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with refused("torch/export.py: is a pickle", 'leave out encoder = "torch", or write the weigh'):
        bake(folder, steps=MEAN, encoder="torch", pickle="tensors")
    bake(folder, steps=MEAN, pickle="tensors")
    AutoModel.from_pretrained(folder).save_pretrained(folder, safe_serialization=True)
    bake(folder, steps=MEAN, encoder="torch")
