"""polybake.toml as init writes it: what the source says, and what is only assumed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from models.files.task_models import masked_lm_weights
from models.folders.tiny_folders import (
    CONFIG,
    bert_weights,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from models.onnx.quantized_onnx import quantize_dynamic
from models.onnx.tiny_onnx import POOLED, encoder, write_encoder
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.config import load_config
from support.processes.commandline import polybake, run
from support.processes.signals import posix

pytestmark = pytest.mark.slow


def settings(folder: Path, *arguments: object) -> dict[str, object]:
    polybake("init", *arguments, cwd=folder)
    return tomllib.loads((folder / "polybake.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("declared", [None, {"query": "", "document": ""}])
def test_prompts_of_a_model_card_are_a_comment(
    declared: dict[str, str] | None, tmp_path: Path
) -> None:
    """They count once the signs before them are taken away; empty ones do not stand beside them."""
    folder = write_sentence_transformers(
        tmp_path / "multilingual-e5-large-instruct", ("Pooling", {"pooling_mode": "mean"})
    )
    if declared is not None:
        write_json(folder / "config_sentence_transformers.json", {"prompts": declared})
    assert "prompts" not in settings(tmp_path, folder)
    place = tmp_path / "polybake.toml"
    comment = "# intfloat/multilingual-e5-large-instruct was trained with these prompts; they count"
    text = place.read_text("utf-8")
    assert text.count(comment) == 1
    assert "# Remark: the line before the query says the task: write yours.\n# [prompts]\n" in text
    place.write_text(text.replace("# [prompts]\n# ", "[prompts]\n"), "utf-8")
    query = (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
        "Query: "
    )
    assert load_config(place).prompts == {"query": query}


@posix
@pytest.mark.parametrize("output", ["polybake.toml", "below/polybake.toml"])
def test_a_link_stays_a_link(output: str, tmp_path: Path) -> None:
    """A link's target may differ on another machine, so the link itself is written."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "bert").symlink_to(write_bert(tmp_path / "elsewhere"))
    polybake("init", "bert", "--output", output, cwd=folder)
    source = tomllib.loads((folder / output).read_text())["model"]["source"]
    assert source == "../" * output.count("/") + "bert"
    polybake("inspect", source, cwd=(folder / output).parent)


def test_a_task_may_be_named(tmp_path: Path) -> None:
    """A masked language model does not say that it weighs tokens, so the user may."""
    config = CONFIG | {"architectures": ["BertForMaskedLM"]}
    write_bert(tmp_path / "bert", config, masked_lm_weights())
    found = settings(tmp_path, "bert", "--set", "model.task=sparse")
    assert found["steps"] == [{"step": "head"}, {"step": "splade"}]
    polybake("bake", cwd=tmp_path)
    options = ("--set", "model.task=sparse", "--output", "named.onnx", "--json")
    named = polybake("bake", "bert", *options, cwd=tmp_path)
    manifest = json.loads(named)["manifest"]
    assert manifest["contract"]["task"] == "sparse"
    assert manifest["fingerprint"] == read_head(tmp_path / "build/bert.onnx").manifest.fingerprint


def test_an_export_gets_it_only_where_it_does_not_pool(tmp_path: Path) -> None:
    write_encoder(tmp_path / "tokens")
    write_encoder(tmp_path / "pooled", encoder(outputs=POOLED))
    found = settings(tmp_path, "tokens/model.onnx", "--name", "my-model")
    assert found["steps"] == [{"step": "pool", "mode": "mean"}]
    found = settings(tmp_path, "pooled/model.onnx", "--name", "my-model", "--force")
    assert found["steps"] == []
    assert "add yours as [[steps]]" in (tmp_path / "polybake.toml").read_text()


@pytest.mark.parametrize("text", ["\x7f\x00\u2028", 'a "b" \\ c\n\t\U0001f30a é'])
def test_every_prompt_can_be_read_back(tmp_path: Path, text: str) -> None:
    """Prompts with any characters survive writing and reading."""
    write_sentence_transformers(tmp_path / "tiny")
    prompts = {f"name {text}": text}
    write_json(tmp_path / "tiny" / "config_sentence_transformers.json", {"prompts": prompts})
    assert settings(tmp_path, "tiny")["prompts"] == prompts
    assert load_config(tmp_path / "polybake.toml").prompts == prompts


def test_the_schema_checks_what_init_writes(tmp_path: Path) -> None:
    """The file stays valid with its schema's line, names what was assumed, and bakes."""
    write_bert(tmp_path / "bert")
    printed = polybake("init", "--schema", "polybake.schema.json", cwd=tmp_path)
    line = "#:schema ./polybake.schema.json"
    assert printed.rstrip().endswith(line)
    found = settings(tmp_path, "bert", "--language", "ruby", "--language", "node")
    assert found["steps"] == [{"step": "pool", "mode": "mean"}]
    assert found["clients"] == {"ruby": {}, "node": {}}
    path = tmp_path / "polybake.toml"
    text = path.read_text("utf-8")
    assert "# the source names no steps, and the mean of a text's tokens was assumed, which" in text
    path.write_text(f"{line}\n{text}", "utf-8")
    assert list(load_config(path).clients) == ["ruby", "node"]
    schema = json.loads((tmp_path / "polybake.schema.json").read_text("utf-8"))
    jsonschema.validate(tomllib.loads(path.read_text("utf-8")), schema)
    polybake("bake", cwd=tmp_path)
    again = polybake("init", "--schema", "polybake.schema.json", cwd=tmp_path, code=2)
    assert "polybake.schema.json: exists already" in again


def quantized(folder: Path) -> Path:
    """An export whose ranges are found as it runs."""
    encoder = open_source(write_bert(folder)).encoder
    return quantize_dynamic(encoder.reference(folder).path, folder / "quantized.onnx")


def without_a_weight(folder: Path) -> Path:
    """A folder from which a weight of the first layer was lost."""
    weights = bert_weights()
    del weights["encoder.layer.0.output.dense.weight"]
    return write_bert(folder, CONFIG, weights)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (quantized, "give the float32 file"),
        (without_a_weight, "encoder.layer.0.output.dense.weight"),
    ],
)
def test_what_bake_would_refuse_is_refused(
    write: Callable[[Path], Path], said: str, tmp_path: Path
) -> None:
    """The graph is made as a bake makes it, and no polybake.toml is left behind."""
    source = write(tmp_path / "tiny-model")
    steps = tmp_path / "steps.toml"
    table = f'name = "tiny"\nsource = "{source}"\noutput = "tiny.onnx"'
    steps.write_text(f'[model]\n{table}\n[[steps]]\nstep = "pool"\nmode = "mean"\n')
    baked = polybake("bake", steps, cwd=tmp_path, code=2)
    initialised = polybake("init", source, cwd=tmp_path, code=2)
    assert said in baked
    assert initialised == baked
    assert not (tmp_path / "polybake.toml").exists()


@posix
def test_the_languages_that_run_here_are_required(tmp_path: Path) -> None:
    """Those whose programs are all on PATH, of the clients that are asked for."""
    write_bert(tmp_path / "bert")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("node", "npm", "ruby", "cargo"):
        (programs / name).touch(mode=0o755)
    done = run("init", "bert", cwd=tmp_path, PATH=str(programs))
    assert done.returncode == 0, done.stderr
    assert load_config(tmp_path / "polybake.toml").verify.require == ("python", "node")
    languages = ("--language", "rust", "--language", "ruby", "--force")
    assert run("init", "bert", *languages, cwd=tmp_path, PATH=str(programs)).returncode == 0
    assert load_config(tmp_path / "polybake.toml").verify.require == ("rust",)
