"""Folders whose weights are a pickle: refused, or the model that safetensors give."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import polybake
from models.files.task_models import masked_lm_weights
from models.folders.tiny_folders import (
    CONFIG,
    VOCABULARY,
    bert_weights,
    write_bert,
    write_json,
    write_sentence_transformers,
    write_tokenizer,
)
from models.folders.torch_saved import Storage, Tensor, entries_of, state_of, write_torch, write_zip
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.sources import open_source
from polybake.baking.sources.module_weights import all_tensors, exact_tensors, weight_file
from polybake.baking.sources.pickled import INDEX, NAME
from polybake.baking.sources.static_encoder import open_static_embedding
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer_json import read_tokenizer
from support.hub.hub_cache import write_cache
from support.processes import commandline

POOL = ("Pooling", {"pooling_mode": "mean"})
DENSE = ("Dense", {"in_features": 12, "out_features": 5, "bias": False})
LINEAR = {"linear.weight": np.random.default_rng(2).normal(size=(5, 12)).astype(np.float32)}

ASKED = r'or, to read the tensors of pytorch_model\.bin .* say pickle = "tensors" below \[model\]'


def pickle_it(folder: Path) -> Path:
    """Save the weights of a folder, and of those in it, as PyTorch does."""
    for file in [*folder.rglob("model.safetensors")]:
        write_torch(file.with_name(NAME), load_file(file))
        file.unlink()
    return folder


def encoder_bytes(folder: Path, scratch: Path) -> bytes:
    scratch.mkdir()
    return open_source(folder, pickle="tensors").encoder.reference(scratch).path.read_bytes()


def test_is_the_model_of_its_safetensors(tmp_path: Path) -> None:
    """Each byte of the file, so the fingerprint, too."""
    folder = write_sentence_transformers(tmp_path / "m", POOL, DENSE)
    save_file(LINEAR, folder / "2_Dense" / "model.safetensors")
    polybake.bake(folder, tmp_path / "a.onnx", name="tiny")
    pickle_it(folder)
    polybake.bake(folder, tmp_path / "b.onnx", name="tiny", pickle="tensors")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_a_head_is_read(tmp_path: Path) -> None:
    """What lies behind an encoder is found by its names."""
    config = CONFIG | {"architectures": ["BertForMaskedLM"]}
    folder = write_bert(tmp_path / "m", config, masked_lm_weights())
    polybake.bake(folder, tmp_path / "a.onnx", name="tiny", task="sparse")
    pickle_it(folder)
    polybake.bake(folder, tmp_path / "b.onnx", name="tiny", task="sparse", pickle="tensors")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_several_files(tmp_path: Path) -> None:
    """An index names the file of each weight."""
    folder = write_bert(tmp_path / "m")
    whole = encoder_bytes(folder, tmp_path / "whole")
    (folder / "model.safetensors").unlink()
    names = {name: f"pytorch_model-{name.startswith('enc')}.bin" for name in bert_weights()}
    for shard in {*names.values()}:
        held = {name: one for name, one in bert_weights().items() if names[name] == shard}
        write_torch(folder / shard, held)
    write_json(folder / INDEX, {"metadata": {"total_size": 1}, "weight_map": names})
    assert encoder_bytes(folder, tmp_path / "out") == whole
    with pytest.raises(InputError, match=ASKED):
        open_source(folder)
    (folder / "pytorch_model-True.bin").unlink()
    with pytest.raises(InputError, match=r"has no pytorch_model-True\.bin; download"):
        open_source(folder, pickle="tensors")
    for name, shown in (("../m.bin", "outside the model's folder"), ("m.pkl", "pattern")):
        write_json(folder / INDEX, {"weight_map": {"a": name}})
        with pytest.raises(InputError, match=shown):
            open_source(folder, pickle="tensors")


def test_is_refused_unless_asked_for(tmp_path: Path) -> None:
    """The message says how to ask, and does not where that would not help."""
    folder = pickle_it(write_bert(tmp_path / "m"))
    with pytest.raises(InputError, match=rf"{NAME} is a pickle.*save_pretrained.*; {ASKED}"):
        open_source(folder)
    (folder / NAME).unlink()
    for asked in ("refused", "tensors"):
        with pytest.raises(InputError, match=r"has no model\.safetensors; write it") as caught:
            open_source(folder, pickle=asked)
        assert "tensors of" not in str(caught.value)


def test_a_module_is_refused_unless_asked_for(tmp_path: Path) -> None:
    """As an encoder is."""
    folder = write_sentence_transformers(tmp_path / "m", POOL, DENSE)
    write_torch(folder / "2_Dense" / NAME, LINEAR)
    with pytest.raises(InputError, match=rf"2_Dense: has no model\.safetensors; save .*; {ASKED}"):
        polybake.bake(folder, tmp_path / "a.onnx", name="tiny")
    polybake.bake(folder, tmp_path / "a.onnx", name="tiny", pickle="tensors")


def test_a_repository_may_have_one(tmp_path: Path) -> None:
    """Of a repository a pickle is not fetched unasked, so the message does not know of it."""
    folder = write_bert(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    snapshot = write_cache(tmp_path / "cache", "owner/tiny", folder)
    with pytest.raises(InputError, match=ASKED):
        open_source(snapshot)


def test_safetensors_are_taken_first(tmp_path: Path) -> None:
    """A pickle beside them is not opened."""
    folder = write_sentence_transformers(tmp_path / "m", POOL, DENSE)
    save_file(LINEAR, folder / "2_Dense" / "model.safetensors")
    for place in (folder, folder / "2_Dense"):
        (place / NAME).write_bytes(b"no")
    polybake.bake(folder, tmp_path / "a.onnx", name="tiny", pickle="tensors")


def test_static_embeddings(tmp_path: Path) -> None:
    """Tables of tokens lie in a file of the same name."""
    write_tokenizer(tmp_path)
    save_file({"embedding.weight": np.eye(len(VOCABULARY), 3)}, tmp_path / "model.safetensors")
    pickle_it(tmp_path)
    folder = ModelFolder.at(tmp_path, pickle="tensors")
    encoder, _ = open_static_embedding(folder, read_tokenizer(folder))
    assert encoder.place().state.x.shape[-1] == 3


def test_modules_of_an_exported_encoder(tmp_path: Path) -> None:
    """The folder of an .onnx file has modules, too."""
    path = write_encoder(tmp_path / "m")
    folder = write_sentence_transformers(path.parent, POOL, ("Dense", {"bias": False}))
    write_torch(folder / "2_Dense" / NAME, {"linear.weight": LINEAR["linear.weight"][:, :6]})
    with pytest.raises(InputError, match=ASKED):
        polybake.bake(path, tmp_path / "a.onnx", name="tiny")
    polybake.bake(path, tmp_path / "a.onnx", name="tiny", pickle="tensors")


def test_every_tensor_is_known(tmp_path: Path) -> None:
    """A tensor that no layer takes ends the bake, as one of safetensors does."""
    folder = pickle_it(
        write_bert(tmp_path / "m", weights=bert_weights() | {"own": LINEAR["linear.weight"]})
    )
    with pytest.raises(InputError, match=rf"{NAME}: does not fit the network: unexpected own"):
        encoder_bytes(folder, tmp_path / "out")
    write_torch(tmp_path / NAME, {"a": LINEAR["linear.weight"]})
    with pytest.raises(InputError, match=rf"{NAME}: holds a; expected linear\.weight"):
        exact_tensors(ModelFolder.at(tmp_path, pickle="tensors"), {"weight": "linear.weight"})


def test_numbers_that_are_none(tmp_path: Path) -> None:
    """NaN is named when it is read."""
    weights = bert_weights()
    weights["encoder.layer.1.output.dense.weight"][3, 4] = np.nan
    folder = pickle_it(write_bert(tmp_path / "m", weights=weights))
    with pytest.raises(InputError, match=rf"{NAME}: .*output\.dense\.weight holds nan"):
        encoder_bytes(folder, tmp_path / "out")


def test_a_module_is_no_larger_than_its_file(tmp_path: Path) -> None:
    """A module's tensors are in memory together; names of one storage cost nothing in a file."""
    shared = Storage(np.zeros(1000, np.float32))
    state = state_of({})
    state |= {f"a{number}": Tensor(shared, 0, (1000,), (1,)) for number in range(100)}
    write_zip(tmp_path / NAME, entries_of(state))
    with pytest.raises(InputError, match=rf"{NAME}: its tensors have more numbers than its \d+ by"):
        all_tensors(ModelFolder.at(tmp_path, pickle="tensors"))


@pytest.mark.parametrize("asked", ["refused", "tensors"])
def test_a_trap_is_not_run(asked: str, tmp_path: Path) -> None:
    """The name that it would call is in the message."""
    folder = write_bert(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    entries = entries_of(state_of({}))
    entries["archive/data.pkl"] = b"\x80\2cos\nmkdir\nX\3\0\0\0ran\x85R."
    write_zip(folder / NAME, entries)
    with pytest.raises(InputError, match="is a pickle" if asked == "refused" else "'os.mkdir'"):
        open_source(folder, pickle=asked).encoder.place()
    assert not Path("ran").exists()


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    """A pickle lies in the model's folder, too."""
    folder = pickle_it(write_bert(tmp_path / "m"))
    (folder / NAME).rename(tmp_path / "m.bin")
    (folder / NAME).symlink_to(tmp_path / "m.bin")
    with pytest.raises(InputError, match="outside the model's folder"):
        weight_file(ModelFolder.at(folder, pickle="tensors"))


def test_pytorch_is_given_none(tmp_path: Path) -> None:
    """An export by PyTorch would unpickle it."""
    folder = pickle_it(write_bert(tmp_path / "m"))
    with pytest.raises(InputError, match=rf'{NAME}: .* leave out encoder = "torch", or write'):
        open_source(folder, "torch", pickle="tensors")


def test_no_other_value(tmp_path: Path) -> None:
    """There is no way to let a pickle run."""
    with pytest.raises(InputError, match=r"model\.pickle: .*'refused' or 'tensors', found 'all'"):
        polybake.bake(write_bert(tmp_path / "m"), tmp_path / "a.onnx", name="tiny", pickle="all")


@pytest.mark.slow
def test_the_commands_take_it(tmp_path: Path) -> None:
    """As an option, and as a key that init writes."""
    pickle_it(write_bert(tmp_path / "tiny"))
    refused = commandline.polybake("init", "tiny", cwd=tmp_path, code=2)
    assert "(--pickle tensors)" in refused
    commandline.polybake("init", "tiny", "--pickle", "tensors", cwd=tmp_path)
    assert tomllib.loads((tmp_path / "polybake.toml").read_text())["model"]["pickle"] == "tensors"
    commandline.polybake("bake", "--pickle", "refused", cwd=tmp_path, code=2)
    commandline.polybake("build", "--clients", "c", cwd=tmp_path)
    assert (tmp_path / "c" / "ruby").is_dir()
