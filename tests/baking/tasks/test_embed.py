"""Embedders: checkpoints of other tasks are refused, unless the user says how they pool."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import polybake
from models.folders.tiny_folders import change_json, write_bert
from models.onnx.tiny_onnx import POOLED, TOKENS, encoder, write_encoder
from polybake.baking.sources import open_source
from polybake.cli.init import settings_text
from polybake.cli.target import config_for
from polybake.errors import InputError

POOL = [{"step": "pool", "mode": "mean"}]
WHOLE = POOLED.replace("pooler_output", "sentence_embedding")


def steps_of(source: Path, out: Path, **settings: Any) -> tuple[str, ...]:
    """The steps of a bake for which nobody lists any, unless the settings do."""
    return polybake.bake(source, out, name="m", **settings).manifest.steps


def write_onnx(folder: Path, outputs: str) -> Path:
    """Write a file below the folder, as conversions have it, and its settings in the folder."""
    named = encoder(outputs=outputs)
    for node in named.graph.node:
        node.output[:] = [one.replace("pooler_output", "sentence_embedding") for one in node.output]
    path = write_encoder(folder, named)
    (folder / "onnx").mkdir()
    return path.rename(folder / "onnx" / "model.onnx")


@pytest.mark.parametrize(
    ("architecture", "purpose"),
    [
        ("GPT2LMHeadModel", "go on with a text"),
        ("T5ForConditionalGeneration", "write a text for another"),
        ("BertForNextSentencePrediction", "tell whether a text follows another"),
        ("BertForMultipleChoice", "choose among answers"),
    ],
)
def test_what_was_trained_for_something_else_is_refused(
    tmp_path: Path, architecture: str, purpose: str
) -> None:
    """A generator's checkpoint is refused by its class, unless the user gives a pooling."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", architectures=[architecture])
    message = f"{architecture} was trained to {purpose}, and no task does that"
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")
    with pytest.raises(InputError, match=message):
        settings_text(open_source(folder), config_for(folder, (), name="m"), tmp_path)


@pytest.mark.parametrize("architecture", ["BertModel", "BertForMaskedLM", "T5EncoderModel"])
def test_an_encoder_is_pooled_as_assumed(tmp_path: Path, architecture: str) -> None:
    """Many embedders are saved as what they were before, and `init` says that it assumes a mean."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", architectures=[architecture])
    text = settings_text(open_source(folder), config_for(folder, (), name="m"), tmp_path)
    assert 'mode = "mean"' in text


@pytest.mark.parametrize(
    ("called", "steps"),
    [
        ("bge-small-en-v1.5", ("pool(mode=cls)", "normalize()")),
        ("nomic-embed-text-v1.5", ("pool(mode=mean)",)),
    ],
)
def test_a_published_model_has_its_own_steps(
    called: str, steps: tuple[str, ...], tmp_path: Path
) -> None:
    """A folder and a file without modules.json have those of the model that they are."""
    folder = write_bert(tmp_path / called)
    assert steps_of(folder, tmp_path / "m.onnx") == steps
    assert steps_of(folder, tmp_path / "m.onnx", steps=POOL) == ("pool(mode=mean)",)
    file = write_onnx(tmp_path / "converted" / called, TOKENS)
    report = polybake.bake(file, tmp_path / "m.onnx", name="m")
    assert report.manifest.steps == steps
    assert report.notes[0].startswith("the source names no steps; it is ")
    text = settings_text(open_source(file), config_for(file, (), name="m"), tmp_path)
    assert f"\n# {report.notes[0]}\n\n[[steps]]\n" in text
    assert [f"{one['step']}" for one in tomllib.loads(text)["steps"]] == [
        one.partition("(")[0] for one in steps
    ]


@pytest.mark.parametrize(
    ("called", "steps"),
    [
        ("bge-small-en-v1.5", ("normalize()",)),
        ("LaBSE", ()),
    ],
)
def test_a_pooled_output_is_normalized_as_its_model_is(
    called: str, steps: tuple[str, ...], tmp_path: Path
) -> None:
    """It has its pooling behind it; whether it was normalized, too, no file says."""
    file = write_onnx(tmp_path / called, f"{TOKENS}, {WHOLE}")
    assert steps_of(file, tmp_path / "m.onnx") == steps
    assert steps_of(file, tmp_path / "m.onnx", steps=[]) == ()


def test_an_origin_is_not_the_model(tmp_path: Path) -> None:
    """What was made from a published model may pool otherwise: the mean stays assumed."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", _name_or_path="BAAI/bge-small-en-v1.5")
    assert 'mode = "mean"' in settings_text(
        open_source(folder), config_for(folder, (), name="m"), tmp_path
    )
    with pytest.raises(InputError, match="add a step that pools"):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")
