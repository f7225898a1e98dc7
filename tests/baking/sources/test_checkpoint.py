"""Encoders of config.json and safetensors: built here, or exported by PyTorch."""

from __future__ import annotations

import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from models.bake import bake
from models.folders.drawn import DRAWN, SIZES, write_drawn
from models.folders.tiny_folders import CONFIG, bert_weights, change_json, write_bert, write_json
from models.formulas.decoder_numpy import DECODER, decoder_weights
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.encoders.passed_over import READ_ELSEWHERE
from polybake.baking.graph.check import check_graph
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.sources.heads.masked_lm import MaskedLMConfig
from polybake.baking.sources.heads.sequence_classification import HeadConfig
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.base.files.known_keys import Allowed
from polybake.base.files.model_folder import SourceSettings
from polybake.cli.init import init
from polybake.cli.inspect import source_facts
from polybake.errors import InputError, RequirementMissing
from polybake.runtime.embedder import Embedder

QWEN3 = DECODER | {"model_type": "qwen3", "head_dim": 10}
#: Of checkpoints whose own code is known to compute what polybake does.
PROVEN_CODE = {
    "new": "Alibaba-NLP/new-impl--modeling.NewModel",
    "gte": "modeling_hf_alibaba_nlp_gte.GteModel",
    "nomic_bert": "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel",
}


@pytest.mark.parametrize("name", ["mamba", None])
def test_an_unknown_architecture_is_named(name: str | None, tmp_path: Path) -> None:
    """Beside those that are known; exporting by PyTorch is never chosen silently."""
    folder = write_bert(tmp_path / "model", CONFIG | {"model_type": name}, bert_weights())
    with pytest.raises(
        InputError, match=f"{name!r}; known are: albert, bart, .*model.encoder=torch"
    ):
        open_source(folder)


def test_graph_for_old_runtimes(tmp_path: Path) -> None:
    """The graph is valid ONNX of opset 18 and IR 8, which runtimes years old load."""
    graph = open_source(write_bert(tmp_path / "model")).encoder.place()
    graph.model.graph.outputs.append(graph.state.x)
    check_graph(graph.model)
    assert graph.model.opset_imports == {"": 18}
    assert graph.model.ir_version == 8


def test_padding_stands_behind_the_text(tmp_path: Path) -> None:
    """On the left it would move the positions, whose rotations are rounded otherwise."""
    folder = write_drawn(tmp_path / "model", "qwen3")
    change_json(folder / "tokenizer_config.json", padding_side="left")
    source = open_source(folder)
    assert source.tokenizer.pad_side == "left"
    specs = [{"step": "pool", "mode": "lasttoken"}, {"step": "normalize"}]
    steps = resolve(specs, base=tmp_path, source=source)
    report = bake(source, steps, tmp_path / "baked.onnx", name="tiny")
    assert report.manifest.contract.pad_side == "right"
    embedder = Embedder(report.path)
    rows = [[5, 6, 7], [8, 9, 10, 11, 12, 13, 14]]
    alone = np.concatenate([embedder.embed_ids([row]) for row in rows])
    np.testing.assert_allclose(embedder.embed_ids(rows), alone, atol=2e-7)


def test_a_projection_that_no_head_takes_is_refused(tmp_path: Path) -> None:
    """A layer behind the encoder is dropped only where a head of the architecture has its name."""
    weights = decoder_weights(10, norms=True)
    score = weights["embed_tokens.weight"]
    folder = write_bert(tmp_path / "head", QWEN3, weights | {"score.weight": score})
    open_source(folder).encoder.place()
    folder = write_bert(tmp_path / "projection", QWEN3, weights | {"linear.weight": score})
    with pytest.raises(InputError, match=r"unexpected linear\.weight"):
        open_source(folder).encoder.place()


def test_what_its_own_code_does_is_said_and_allowed(tmp_path: Path) -> None:
    """The code of a tokenizer is allowed apart: it may change what the model's does not."""
    config = QWEN3 | {"is_causal": False, "auto_map": {"AutoModel": "modeling.Qwen2Model"}}
    folder = write_bert(tmp_path / "model", config, decoder_weights(10, norms=True))
    code = {"AutoTokenizer": ["tokenization.Tokenizer", None]}
    change_json(folder / "tokenizer_config.json", auto_map=code)
    tokenizers = "auto_map.AutoTokenizer"
    with pytest.raises(InputError, match=rf"tokenizer_config\.json: unknown key {tokenizers}"):
        open_source(folder, SourceSettings(allow_unknown=("auto_map",)))
    with pytest.raises(InputError, match=r"model/config\.json: unknown key auto_map = "):
        open_source(folder, SourceSettings(allow_unknown=(tokenizers,)))
    open_source(folder, SourceSettings(allow_unknown=("auto_map", tokenizers)))


@pytest.mark.parametrize("code", ["modeling_bert.JinaBertModel", *PROVEN_CODE.values()])
def test_code_of_a_model_is_refused(code: str, tmp_path: Path) -> None:
    """Also code that another architecture is known to compute."""
    folder = write_bert(tmp_path / "model", CONFIG | {"auto_map": {"AutoModel": code}})
    with pytest.raises(InputError, match=r"unknown key auto_map = .*no code of a model is run"):
        open_source(folder)


@pytest.mark.parametrize("name", PROVEN_CODE)
def test_code_that_is_known_to_compute_the_same_is_passed_over(name: str) -> None:
    """By the names of its classes, whatever repository it lies in."""
    other = {"AutoModel": PROVEN_CODE[name], "AutoModelForMaskedLM": "modeling.Other"}
    proven, refused = ({"AutoModel": PROVEN_CODE[name]}, other)
    for code in (proven, refused):
        config = EncoderConfig({**DRAWN.get(name, SIZES), "auto_map": code})
        ENCODERS[name].read(config)
        with nullcontext() if code is proven else pytest.raises(InputError, match="auto_map"):
            config.check(Allowed())


def test_what_other_parts_of_polybake_read_is_no_architecture_s_own() -> None:
    """The keys that heads and tokenizers compute are those that their settings declare."""
    read = {*ModelConfig.model_fields, *HeadConfig.model_fields, *MaskedLMConfig.model_fields}
    assert read >= {*READ_ELSEWHERE}


@pytest.mark.parametrize("encoder", ["native", "torch"])
@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ({"a": "model-1.bin"}, r"weight_map\.a: .* pattern .*, found 'model-1\.bin'"),
        ({"a": "model-1.safetensors"}, "has no model-1.safetensors; download the whole model"),
        ({}, "weight_map: Dictionary should have at least 1 item"),
    ],
)
def test_an_index_lists_safetensors_only(
    named: dict[str, str], shown: str, encoder: Literal["native", "torch"], tmp_path: Path
) -> None:
    """A pickle does not come in as a shard, and no list of nothing stands for all weights."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "model-1.bin")
    write_json(folder / "model.safetensors.index.json", {"weight_map": named})
    with pytest.raises(InputError, match=shown):
        open_source(folder, SourceSettings(encoder=encoder))


@pytest.fixture
def ernie(tmp_path: Path) -> Path:
    """A model of an architecture that is not among our own."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", model_type="ernie")
    return folder


def test_opens_without_pytorch(ernie: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded before the bake, which names the extra where PyTorch is missing."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "polybake.baking.sources.torch.model", raising=False)
    source = open_source(ernie, SourceSettings(encoder="torch"))
    assert source_facts(source)["encoder"] == "torch:ernie"
    with pytest.raises(RequirementMissing, match=r'package torch; .*pip install "\.\[torch\]"'):
        source.encoder.place()


def test_init_writes_who_makes_the_encoder(ernie: Path, tmp_path: Path) -> None:
    """The key stands in polybake.toml, and only where it is not the default."""
    init(ernie, output=tmp_path / "a.toml", name="tiny", setting=["model.encoder=torch"])
    assert tomllib.loads((tmp_path / "a.toml").read_text())["model"]["encoder"] == "torch"
    init(write_bert(tmp_path / "bert"), output=tmp_path / "b.toml", name="tiny")
    assert "encoder" not in tomllib.loads((tmp_path / "b.toml").read_text())["model"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("auto_map", {"AutoModel": "modeling_own.OwnModel"}),
        ("quantization_config", {"quant_method": "bitsandbytes"}),
    ],
)
def test_code_and_quantized_weights_are_refused(key: str, value: object, ernie: Path) -> None:
    """A model that brings its own code is named, and its code is not looked at."""
    change_json(ernie / "config.json", **{key: value})
    (ernie / "modeling_own.py").write_text("raise SystemExit('ran')")
    with pytest.raises(InputError, match=rf"config.json: {key}: .*; no code of a model is run"):
        open_source(ernie, SourceSettings(encoder="torch"))


def test_pytorch_is_given_no_pickle_and_no_link(ernie: Path, tmp_path: Path) -> None:
    """It would unpickle the one, and read a file from outside the model's folder."""
    weights = (ernie / "model.safetensors").rename(ernie / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"no model.safetensors \(pytorch_model.bin is a pickle"):
        open_source(ernie, SourceSettings(encoder="torch"))
    with pytest.raises(InputError, match=r'pytorch_model.bin: .*leave out encoder = "torch"'):
        open_source(ernie, SourceSettings(encoder="torch", pickle="tensors"))
    (ernie / "model.safetensors").symlink_to(weights.rename(tmp_path / "elsewhere"))
    with pytest.raises(InputError, match="outside the model's folder"):
        open_source(ernie, SourceSettings(encoder="torch"))
