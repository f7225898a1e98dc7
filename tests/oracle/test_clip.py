"""CLIP's text tower against transformers: tiny models of texts and pictures, saved and baked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from models.folders.clip import PICTURES, clip_text_config, clip_tokenizer
from models.folders.seeded import randomise
from models.folders.tiny_folders import write_json
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake
from support.oracle.proven import HUGGING_FACE, Proven


def both_towers(folder: Path, **text: Any) -> Any:
    """A CLIPModel, saved with its tokenizer."""
    config = transformers.CLIPConfig(
        text_config=clip_text_config(**text), vision_config=PICTURES, projection_dim=36
    )
    return saved(transformers.CLIPModel(config), folder)


def saved(model: Any, folder: Path) -> Any:
    randomise(model).save_pretrained(folder)
    clip_tokenizer().save_pretrained(folder)
    return model


def agreement_with(features: Any, folder: Path, out: Path) -> Agreement:
    """Bake a folder and compare each golden case with the library, a text at a time."""
    bake(folder, out, name="tiny")
    tokenizer = (
        transformers.AutoTokenizer.from_pretrained(folder / "0_CLIPModel")
        if (folder / "modules.json").is_file()
        else transformers.AutoTokenizer.from_pretrained(folder)
    )

    def given(case: Case) -> dict[str, Any]:
        encoded = [tokenizer(text, truncation=True, return_tensors="pt") for text in case.texts]
        with torch.inference_mode():
            rows = [features(**one)[0].numpy() for one in encoded]
        ids = tuple(tuple(one.input_ids[0].tolist()) for one in encoded)
        return {"input_ids": ids, "embeddings": rows}

    return agreement_case_by_case(out, given)


@pytest.mark.parametrize(("name", "end"), [("clip", None), ("clip, old end", 2)])
def test_both_towers(name: str, end: int | None, tmp_path: Path, proven: Proven) -> None:
    """Ids are equal and text features agree for every built-in case."""
    model = both_towers(tmp_path / "model", **({} if end is None else {"eos_token_id": end}))
    found = agreement_with(
        lambda **fed: model.get_text_features(**fed).pooler_output,
        tmp_path / "model",
        tmp_path / "tiny.onnx",
    )
    proven(name, found, source=HUGGING_FACE)


@pytest.mark.parametrize("projected", [True, False])
def test_the_text_tower_alone(projected: bool, tmp_path: Path, proven: Proven) -> None:
    """With its projection, and without."""
    kind = "CLIPTextModelWithProjection" if projected else "CLIPTextModel"
    config = transformers.CLIPTextConfig(**clip_text_config(projection_dim=36))
    model = saved(getattr(transformers, kind)(config), tmp_path / "model")
    output = "text_embeds" if projected else "pooler_output"
    found = agreement_with(
        lambda **fed: getattr(model(**fed), output), tmp_path / "model", tmp_path / "tiny.onnx"
    )
    proven(f"clip_text_model, {kind}", found, source=HUGGING_FACE)


def test_a_folder_of_sentence_transformers(tmp_path: Path, proven: Proven) -> None:
    """Its CLIPModel gives texts what transformers' text features are."""
    folder = tmp_path / "model"
    model = both_towers(folder / "0_CLIPModel")
    kind = "sentence_transformers.models.CLIPModel"
    entry = {"idx": 0, "name": "0", "path": "0_CLIPModel", "type": kind}
    write_json(folder / "modules.json", [entry])
    found = agreement_with(
        lambda **fed: model.get_text_features(**fed).pooler_output, folder, tmp_path / "tiny.onnx"
    )
    proven("clip", found)
