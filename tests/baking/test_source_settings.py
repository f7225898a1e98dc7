"""What polybake.toml says of a source: ``adapter``, ``attention`` and ``allow_unknown``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import polybake
from models.folders.tiny_folders import (
    CONFIG,
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from models.formulas import jina_v3_numpy
from models.formulas.decoder_numpy import DECODER, decoder_weights
from models.formulas.jina_v3_numpy import TASKS
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.assemble.notes import notes
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from polybake.base.files.model_folder import SourceSettings
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.cli.main import app
from polybake.config import Config
from polybake.errors import InputError

CODE = {"auto_map": {"AutoModel": "modeling.OwnModel"}}
MEAN = [{"step": "pool", "mode": "mean"}]


def with_adapters(folder: Path) -> Path:
    return write_bert(folder, jina_v3_numpy.CONFIG, jina_v3_numpy.weights())


def decoder(folder: Path, **keys: Any) -> Path:
    config = DECODER | {"model_type": "qwen3", "head_dim": 10} | keys
    return write_bert(folder, config, decoder_weights(10, norms=True))


def of_own_code(folder: Path) -> Path:
    return decoder(folder, **CODE)


def bake(source: Path, out: Path, **settings: Any) -> Manifest:
    polybake.bake(source, out, name="tiny", steps=MEAN, **settings)
    return read_head(out).manifest


@pytest.mark.weekly
def test_each_adapter_is_another_file(tmp_path: Path) -> None:
    """The manifest names the adapter, and its prompt is the default one."""
    folder = with_adapters(tmp_path / "m")
    made = {task: bake(folder, tmp_path / "o.onnx", adapter=task) for task in (None, *TASKS)}
    assert len({one.fingerprint for one in made.values()}) == len(made)
    assert "adapter" not in json.dumps(made[None].source.model_dump(mode="json"))
    assert (made[None].contract.prompts, made[None].contract.default_prompt) == ({}, None)
    for task, prompt in TASKS.items():
        assert made[task].source.adapter == task
        assert made[task].contract.prompts == {task: prompt}
        assert made[task].contract.default_prompt == task


def test_the_models_own_prompts_count_first(tmp_path: Path) -> None:
    """As in sentence-transformers, which does not read config.json's."""
    folder = with_adapters(tmp_path / "m")
    listed = [{"idx": 0, "name": "0", "path": "", "type": "custom_st.Transformer"}]
    write_json(folder / "modules.json", listed)
    prompts = {"retrieval.query": "ask: ", "other": "other: "}
    for default, taken in ((None, "retrieval.query"), ("other", "other")):
        settings = {"prompts": prompts, "default_prompt_name": default}
        write_json(folder / "config_sentence_transformers.json", settings)
        source = open_source(folder, SourceSettings(adapter="retrieval.query"))
        assert (source.prompts, source.default_prompt) == (prompts, taken)


def test_a_note_says_that_no_adapter_is_applied(tmp_path: Path) -> None:
    """One line, until an adapter is set."""
    folder = with_adapters(tmp_path / "m")
    for adapter in (None, "separation"):
        source = open_source(folder, SourceSettings(adapter=adapter))
        said = [*notes(source, task_of(source, None), None, asked=False, listed=True)]
        assert bool(said) == (adapter is None)
        for line in said:
            assert line.startswith(f"{folder} holds adapters, and none is applied")
            assert line.endswith("one of: retrieval.query, retrieval.passage, separation")


@pytest.mark.weekly
def test_attention_stands_for_the_key_of_config_json(tmp_path: Path) -> None:
    """The files are the same as of a folder that says it itself; the manifest names the setting."""
    own, said = of_own_code(tmp_path / "a" / "m"), decoder(tmp_path / "b" / "m", is_causal=False)
    both = bake(own, tmp_path / "both.onnx", attention="both")
    causal = bake(own, tmp_path / "causal.onnx", attention="causal")
    expected = bake(said, tmp_path / "said.onnx")
    assert both.fingerprint == expected.fingerprint != causal.fingerprint
    assert (both.source.attention, causal.source.attention) == ("both", "causal")
    assert "attention" not in json.dumps(expected.source.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("write", "setting"),
    [(with_adapters, {"adapter": "separation"}), (of_own_code, {"attention": "both"})],
)
def test_pytorch_runs_the_class_as_it_is(write: Any, setting: Any, tmp_path: Path) -> None:
    """A setting that nothing reads would look as if it counted."""
    with pytest.raises(InputError, match=rf"class as it is; leave out {next(iter(setting))}"):
        open_source(write(tmp_path / "m"), SourceSettings(encoder="torch", **setting))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "key", "said", "prompt"),
    [
        (with_adapters, "adapter", "retrieval.query", "query: "),
        (of_own_code, "attention", "both", None),
    ],
)
def test_init_and_bake_take_it(
    write: Any,
    key: str,
    said: str,
    prompt: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``init`` writes what it was given, with an adapter's prompt; ``bake`` reads it."""
    write(tmp_path / "m")
    monkeypatch.chdir(tmp_path)
    app(["init", "m", "--set", f"model.{key}={said}"], standalone_mode=False)
    settings = tomllib.loads((tmp_path / "polybake.toml").read_text("utf-8"))
    assert settings["model"][key] == said
    assert settings["model"].get("default_prompt") == (said if prompt else None)
    assert settings.get("prompts") == ({said: prompt} if prompt else None)
    app(["bake"], standalone_mode=False)
    assert getattr(read_head(tmp_path / "build" / "m.onnx").manifest.source, key) == said


@pytest.mark.slow
def test_bake_takes_another_attention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option counts before the file; without either, ``init`` asks for one."""
    of_own_code(tmp_path / "m")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match='attention = "both"'):
        app(["init", "m"], standalone_mode=False)
    app(["init", "m", "--set", "model.attention=both"], standalone_mode=False)
    app(["bake", "--set", "model.attention=causal"], standalone_mode=False)
    assert read_head(tmp_path / "build" / "m.onnx").manifest.source.attention == "causal"


def test_allowed_keys_stand_in_the_manifest(tmp_path: Path) -> None:
    """Without any it is as earlier versions wrote it."""
    folder = write_bert(tmp_path / "m", CONFIG | {"voice_id": 3})
    allowed = bake(folder, tmp_path / "tiny.onnx", allow_unknown=("voice_id",))
    assert allowed.source.allow_unknown == ("voice_id",)
    plain = bake(write_bert(tmp_path / "m"), tmp_path / "tiny.onnx")
    assert plain.source.allow_unknown == ()
    assert "allow_unknown" not in json.dumps(plain.model_dump(mode="json"))
    assert plain.fingerprint == allowed.fingerprint


def test_keys_of_modules_are_allowed_alike(tmp_path: Path) -> None:
    """An unknown key may stand in any file of the folder, also in an exported encoder's."""
    folder = write_sentence_transformers(tmp_path / "m", ("Pooling", {"pooling_mode_foo": True}))
    write_json(folder / "config_sentence_transformers.json", {"rank": 2})
    keys = {"source": folder, "allow_unknown": ("pooling_mode_foo", "rank")}
    table = {"name": "tiny", "output": tmp_path / "tiny.onnx", **keys}
    bake_config(Config.model_validate({"model": table}))
    exported = write_encoder(tmp_path / "x")
    change_json(exported.parent / "tokenizer_config.json", voice_id=3)
    bake(exported, tmp_path / "exported.onnx", allow_unknown=("voice_id",))
