"""``adapter`` of polybake.toml, where a checkpoint holds several."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import polybake
from models.folders.tiny_folders import VOCABULARY, write_bert, write_json, write_tokenizer
from models.formulas.jina_v3_numpy import CONFIG, TASKS, weights
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.assemble.notes import notes
from polybake.baking.same_settings import check_same_settings
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.config import Config
from polybake.errors import CheckFailed, InputError
from support.processes import commandline

MEAN = [{"step": "pool", "mode": "mean"}]


def write(folder: Path) -> Path:
    return write_bert(folder, CONFIG, weights())


def bake(folder: Path, out: Path, adapter: str | None) -> Manifest:
    polybake.bake(folder, out, name="tiny", steps=MEAN, adapter=adapter)
    return read_head(out).manifest


def test_each_is_another_file(tmp_path: Path) -> None:
    """The manifest names the adapter, and its prompt is the default one."""
    folder = write(tmp_path / "m")
    made = {task: bake(folder, tmp_path / "o.onnx", task) for task in (None, *TASKS)}
    assert len({one.fingerprint for one in made.values()}) == len(made)
    assert "adapter" not in json.dumps(made[None].source.model_dump(mode="json"))
    assert (made[None].contract.prompts, made[None].contract.default_prompt) == ({}, None)
    for task, prompt in TASKS.items():
        assert made[task].source.adapter == task
        assert made[task].contract.prompts == {task: prompt}
        assert made[task].contract.default_prompt == task


def test_the_models_own_prompts_count_first(tmp_path: Path) -> None:
    """As in sentence-transformers, which does not read config.json's."""
    folder = write_bert(tmp_path / "m", CONFIG, weights())
    listed = [{"idx": 0, "name": "0", "path": "", "type": "custom_st.Transformer"}]
    write_json(folder / "modules.json", listed)
    prompts = {"retrieval.query": "ask: ", "other": "other: "}
    for default, taken in ((None, "retrieval.query"), ("other", "other")):
        settings = {"prompts": prompts, "default_prompt_name": default}
        write_json(folder / "config_sentence_transformers.json", settings)
        source = open_source(folder, adapter="retrieval.query")
        assert (source.prompts, source.default_prompt) == (prompts, taken)


def test_a_note_says_that_none_is_applied(tmp_path: Path) -> None:
    """One line, until an adapter is set."""
    folder = write(tmp_path / "m")
    for adapter in (None, "separation"):
        source = open_source(folder, adapter=adapter)
        said = [*notes(source, task_of(source, None), None, asked=False, listed=True)]
        assert bool(said) == (adapter is None)
        for line in said:
            assert line.startswith(f"{folder} holds adapters, and none is applied")
            assert line.endswith("one of: retrieval.query, retrieval.passage, separation")


def test_another_setting_is_another_file(tmp_path: Path) -> None:
    """``polybake check`` sees that it was edited."""
    table = {"name": "tiny", "source": write(tmp_path / "m"), "output": tmp_path / "o.onnx"}
    manifest = bake(tmp_path / "m", tmp_path / "o.onnx", "separation")
    read = {"model": table | {"adapter": "separation"}, "steps": tuple(MEAN)}
    check_same_settings(Config.model_validate(read), manifest)
    other = Config.model_validate(read | {"model": table | {"adapter": "retrieval.query"}})
    with pytest.raises(CheckFailed, match=r"with adapter 'separation', and polybake.toml says"):
        check_same_settings(other, manifest)


def test_is_refused_where_there_is_none(tmp_path: Path) -> None:
    """A setting that nothing reads would look as if it counted."""
    with pytest.raises(InputError, match=r'config\.json: has no adapter "x", nor any other; leave'):
        open_source(write_bert(tmp_path / "bert"), adapter="x")
    with pytest.raises(InputError, match=r"has no checkpoint with an adapter 'x'; leave out"):
        open_source(write_encoder(tmp_path / "x"), adapter="x")
    with pytest.raises(InputError, match=r"PyTorch runs the model's class as it is; leave out ada"):
        open_source(write(tmp_path / "m"), "torch", adapter="separation")
    static = tmp_path / "static"
    static.mkdir()
    write_tokenizer(static)
    write_json(static / "config.json", {"model_type": "model2vec", "normalize": True})
    table = np.ones((len(VOCABULARY), 3), np.float32)
    save_file({"embeddings": table}, static / "model.safetensors")
    with pytest.raises(InputError, match=r"static: has no checkpoint with an adapter 'x'"):
        open_source(static, adapter="x")


@pytest.mark.slow
def test_init_and_bake_take_it(tmp_path: Path) -> None:
    """``init`` writes what it was given, with the prompt."""
    write(tmp_path / "m")
    commandline.polybake("init", "m", "--adapter", "retrieval.query", cwd=tmp_path)
    settings = tomllib.loads((tmp_path / "polybake.toml").read_text("utf-8"))
    assert settings["model"]["adapter"] == settings["model"]["default_prompt"] == "retrieval.query"
    assert settings["prompts"] == {"retrieval.query": "query: "}
    commandline.polybake("bake", cwd=tmp_path)
    assert read_head(tmp_path / "build" / "m.onnx").manifest.source.adapter == "retrieval.query"
    printed = commandline.polybake("init", "m", "--output", "base.toml", cwd=tmp_path)
    assert "note: m holds adapters, and none is applied" in printed
