"""Encoders built from config.json and safetensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import CONFIG, bert_weights, change_json, write_bert
from models.formulas.decoder_numpy import DECODER, decoder_weights
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.passed_over import READ_ELSEWHERE
from polybake.baking.graph.check import check_graph
from polybake.baking.sources import open_source
from polybake.baking.sources.heads.masked_lm import MaskedLMConfig
from polybake.baking.sources.heads.sequence_classification import HeadConfig
from polybake.errors import InputError
from polybake.runtime.tokenization.model_config import ModelConfig


def test_unknown_architecture_lists_the_known(tmp_path: Path) -> None:
    """An architecture that is not there is named beside those that are."""
    for name in ("mamba", None):
        folder = write_bert(tmp_path / f"{name}", CONFIG | {"model_type": name}, bert_weights())
        with pytest.raises(InputError, match=f"{name!r}; known are: albert, bart, bert, "):
            open_source(folder)


def test_an_adapter_is_refused(tmp_path: Path) -> None:
    """Where PEFT is installed, transformers would load it over the weights."""
    folder = write_bert(tmp_path / "model")
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    with pytest.raises(InputError, match=r"adapter_config.json: an adapter is not applied; merge"):
        open_source(folder)


def test_names_an_export_in_the_place_of_weights(tmp_path: Path) -> None:
    """A folder that holds an ONNX export alone is refused with that file's path."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").touch()
    with pytest.raises(InputError, match=r"safetensors; give its .*model/onnx/model\.onnx instead"):
        open_source(folder)


def test_graph_for_old_runtimes(tmp_path: Path) -> None:
    """The graph is valid ONNX of opset 18 and IR 8, which runtimes years old load."""
    graph = open_source(write_bert(tmp_path / "model")).encoder.place()
    graph.model.graph.outputs.append(graph.state.x)
    check_graph(graph.model)
    assert graph.model.opset_imports == {"": 18}
    assert graph.model.ir_version == 8


QWEN3 = DECODER | {"model_type": "qwen3", "head_dim": 10}
#: Of checkpoints whose own code is known to compute what polybake does.
PROVEN_CODE = {
    "new": "Alibaba-NLP/new-impl--modeling.NewModel",
    "gte": "modeling_hf_alibaba_nlp_gte.GteModel",
    "nomic_bert": "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel",
}


def test_a_decoder_with_code_of_its_own_is_refused(tmp_path: Path) -> None:
    """With what may be said in its place."""
    config = QWEN3 | {"auto_map": {"AutoModel": "modeling.OwnModel"}}
    folder = write_bert(tmp_path / "model", config, decoder_weights(10, norms=True))
    with pytest.raises(InputError, match=r"auto_map = .*polybake.toml: attention = \"both\", or"):
        open_source(folder)


def test_what_its_own_code_does_is_said_and_allowed(tmp_path: Path) -> None:
    """The code of a tokenizer is allowed apart: it may change what the model's does not."""
    config = QWEN3 | {"is_causal": False, "auto_map": {"AutoModel": "modeling.Qwen2Model"}}
    folder = write_bert(tmp_path / "model", config, decoder_weights(10, norms=True))
    code = {"AutoTokenizer": ["tokenization.Tokenizer", None]}
    change_json(folder / "tokenizer_config.json", auto_map=code)
    tokenizers = "auto_map.AutoTokenizer"
    with pytest.raises(InputError, match=rf"tokenizer_config\.json: unknown key {tokenizers}"):
        open_source(folder, allow_unknown=["auto_map"])
    with pytest.raises(InputError, match=r"model/config\.json: unknown key auto_map = "):
        open_source(folder, allow_unknown=[tokenizers])
    open_source(folder, allow_unknown=["auto_map", tokenizers])


def test_a_projection_that_no_head_takes_is_refused(tmp_path: Path) -> None:
    """A layer behind the encoder is dropped only where a head of the architecture has its name."""
    weights = decoder_weights(10, norms=True)
    score = weights["embed_tokens.weight"]
    folder = write_bert(tmp_path / "head", QWEN3, weights | {"score.weight": score})
    open_source(folder).encoder.place()
    folder = write_bert(tmp_path / "projection", QWEN3, weights | {"linear.weight": score})
    with pytest.raises(InputError, match=r"unexpected linear\.weight"):
        open_source(folder).encoder.place()


@pytest.mark.parametrize(
    "code",
    ["modeling_bert.JinaBertModel", *PROVEN_CODE.values()],
)
def test_code_of_a_model_is_refused(code: str, tmp_path: Path) -> None:
    """Also code that another architecture is known to compute."""
    folder = write_bert(tmp_path / "model", CONFIG | {"auto_map": {"AutoModel": code}})
    with pytest.raises(InputError, match=r"unknown key auto_map = .*no code of a model is run"):
        open_source(folder)


@pytest.mark.parametrize("name", PROVEN_CODE)
def test_code_that_is_known_to_compute_the_same_is_passed_over(name: str) -> None:
    """By the names of its classes, whatever repository it lies in."""
    config = ENCODERS[name].Config
    assert config.passes_over("auto_map", {"AutoModel": PROVEN_CODE[name]})
    other = {"AutoModel": PROVEN_CODE[name], "AutoModelForMaskedLM": "modeling.Other"}
    assert not config.passes_over("auto_map", other)


def test_what_other_parts_of_polybake_read_is_no_architecture_s_own() -> None:
    """The keys that heads and tokenizers compute are those that their settings declare."""
    read = {*ModelConfig.model_fields, *HeadConfig.model_fields, *MaskedLMConfig.model_fields}
    assert read >= {*READ_ELSEWHERE}
