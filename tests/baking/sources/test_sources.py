"""Which kind of source a path is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from models.folders.tiny_folders import (
    change_json,
    write_bert,
    write_json,
)
from polybake.baking.sources import open_source
from polybake.baking.sources.kind import SETTINGS, kind_of
from polybake.base.files.hub_reference import HubReference
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError, RequirementMissing

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def settings(**values: str) -> dict[str, object]:
    """A folder with modules and these settings."""
    return {"modules.json": [], SETTINGS: values}


def config(**values: object) -> dict[str, object]:
    """A folder with these settings alone."""
    return {"config.json": values}


def folder(path: Path, files: dict[str, object]) -> ModelFolder:
    for name, content in files.items():
        write_json(path / name, content)
    return ModelFolder.at(path)


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"modules.json": []}, "sentence_transformers"),
        (settings(query_prefix=""), "multi_vector"),
        (settings(model_type="ColBERT"), "multi_vector"),
        (settings(model_type="MultiVectorEncoder"), "multi_vector"),
        (settings(model_type="CrossEncoder"), "cross_encoder"),
        (settings(model_type="SparseEncoder", query_prefix=""), "sentence_transformers"),
        ({"modules.json": [], **config(model_type="model2vec")}, "sentence_transformers"),
        (config(model_type="model2vec"), "model2vec"),
        (config(embedding_dtype="float32"), "model2vec"),
        (config(architectures=["HF_ColBERT"]), "stanford_colbert"),
        (config(architectures=[]), "hugging_face"),
        (config(model_type="bert"), "hugging_face"),
    ],
)
def test_the_kind_of_a_folder(tmp_path: Path, files: dict[str, object], kind: str) -> None:
    assert kind_of(folder(tmp_path, files)) == kind


LORA = {"adapter_config.json": {"peft_type": "LORA"}}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (LORA, "merge it into the weights with PEFT's"),
        ({"modules.json": [], **LORA}, "merge it into the weights with PEFT's"),
        ({"adapter_config.json": {"model_type": "bert"}}, "export the model with it to ONNX"),
        ({"gliner_config.json": {}, **config()}, "is of a GLiNER model, which is not baked"),
        (config(model_type="extractor"), "'extractor' is GLiNER2, which is not bak"),
    ],
)
def test_what_is_known_and_not_baked(
    files: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        kind_of(folder(tmp_path, files))


def test_the_hub_needs_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without huggingface_hub the message names the extra."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(RequirementMissing, match=r'hub:a/b: needs.*pip install "\.\[hub\]"'):
        open_source(HubReference("a", "b"))


@pytest.mark.parametrize("name", ["tokenizer_config.json", "additional_chat_templates/rag.jinja"])
def test_chat_templates_are_refused(name: str, tmp_path: Path) -> None:
    """A template that every text would be rendered through, wherever it stands."""
    path = write_bert(tmp_path / "m")
    if name.endswith(".json"):
        change_json(path / name, chat_template=TEMPLATE)
    else:
        (path / name).parent.mkdir()
        (path / name).write_text(TEMPLATE)
    with pytest.raises(InputError, match=rf"has .*{name if 'jinja' in name else 'chat_template'}"):
        open_source(path)
