"""Embedders: checkpoints of other tasks are refused, unless the user says how they pool."""

from __future__ import annotations

from pathlib import Path

import pytest

import polybake
from models.files.task_models import write_splade
from models.folders.tiny_folders import change_json, write_bert, write_sentence_transformers
from polybake.baking.sources import open_source
from polybake.cli.init import settings_text
from polybake.errors import InputError

POOL = [{"step": "pool", "mode": "mean"}]


@pytest.mark.parametrize(
    ("architecture", "purpose"),
    [
        ("Qwen3ForCausalLM", "go on with a text"),
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
        settings_text(open_source(folder), folder, "m", tmp_path, "native")
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m", steps=POOL)
    assert report.manifest.contract.task == "embed"


@pytest.mark.parametrize("architecture", ["BertModel", "BertForMaskedLM", "T5EncoderModel"])
def test_an_encoder_is_pooled_as_assumed(tmp_path: Path, architecture: str) -> None:
    """Many embedders are saved as what they were before, and `init` says that it assumes a mean."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", architectures=[architecture])
    text = settings_text(open_source(folder), folder, "m", tmp_path, "native")
    assert 'mode = "mean"' in text


def test_modules_say_how_it_is_pooled(tmp_path: Path) -> None:
    """modules.json decides, even where config.json names a generator, as in Qwen3-Embedding."""
    pooling = ("Pooling", {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True})
    folder = write_sentence_transformers(tmp_path / "model", pooling)
    change_json(folder / "config.json", architectures=["Qwen3ForCausalLM"])
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m")
    assert [step.split("(")[0] for step in report.manifest.steps] == ["pool"]


def test_a_masked_language_model_needs_a_word(tmp_path: Path) -> None:
    """A masked language model may weigh tokens or encode, so the user says which."""
    folder = write_splade(tmp_path / "model")
    for name in ("modules.json", "config_sentence_transformers.json"):
        (folder / name).unlink(missing_ok=True)
    change_json(folder / "config.json", architectures=["BertForMaskedLM"])
    message = 'ends in ForMaskedLM.* task = "sparse".* step = "pool"'
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m", steps=POOL)
    assert report.manifest.contract.task == "embed"
