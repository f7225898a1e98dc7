"""Models of the Hugging Face hub: from a server, and from the cache without one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

from models.files.task_models import m3_layers
from models.folders.stanford import write_stanford
from models.folders.tiny_folders import (
    change_json,
    write_bert,
    write_sentence_transformers,
    write_two_encoders,
)
from models.folders.torch_saved import write_torch
from polybake.base.modelfile.container import read_head
from support.hub.hub_cache import write_cache
from support.hub.hub_server import COMMIT, CONVERTED, Hub, serve
from support.processes import commandline

pytestmark = pytest.mark.slow

pytest.importorskip("huggingface_hub", reason='pip install ".[hub]"')

NAME = "owner/Tiny-Bert"

#: What a repository may hold too; no bake reads any of it.
OTHERS = (
    "pytorch_model.bin",
    "model.onnx",
    "train.py",
    "other.safetensors",
    "old/model.safetensors",
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A sentence-transformers folder with a Dense beside it, as its repository has it."""
    folder = write_sentence_transformers(
        tmp_path / "model", ("Pooling", {"pooling_mode": "mean"}), ("Normalize", {})
    )
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    for name in OTHERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"no")
    return folder


@pytest.fixture
def hub(model: Path) -> Iterator[Hub]:
    """A server that has the model, and the same one behind a gate."""
    with serve(Hub({NAME: model, "owner/gated": model}, gated={"owner/gated"})) as served:
        yield served


def polybake(cwd: Path, *arguments: str, code: int = 0, **settings: str) -> str:
    """Run a command with a cache of its own."""
    home = {"HF_HUB_CACHE": str(cwd / "cache"), "HF_HOME": str(cwd)}
    quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    return commandline.polybake(*arguments, cwd=cwd, code=code, **home, **quiet, **settings)


def test_bakes_from_the_hub_and_again_without_it(hub: Hub, tmp_path: Path) -> None:
    """Only what a bake reads is fetched; the manifest names the commit; the cache then suffices."""
    for number, settings in enumerate(({"HF_ENDPOINT": hub.endpoint}, {"HF_HUB_OFFLINE": "1"})):
        polybake(tmp_path, "bake", f"hub:{NAME}@v1", "--output", f"{number}.onnx", **settings)
    manifest = read_head(tmp_path / "0.onnx").manifest
    assert manifest.source.identifier == f"hub:{NAME}@{COMMIT}"
    assert (manifest.name, manifest.source.licence) == ("tiny-bert", "mit")
    assert manifest.steps == ("pool(mode=mean)", "normalize()")
    assert (tmp_path / "0.onnx").read_bytes() == (tmp_path / "1.onnx").read_bytes()
    assert hub.fetched == {
        "1_Pooling/config.json",
        "2_Normalize/config.json",
        "README.md",
        "config.json",
        "model.safetensors",
        "modules.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }


def test_the_files_of_an_older_tokenizer_are_fetched(hub: Hub, model: Path, tmp_path: Path) -> None:
    """Only where there is no tokenizer.json; a note says of which it was made."""
    (model / "vocab.txt").write_text("".join(f"{token}\n" for token in old_vocabulary(model)))
    (model / "spiece.model").write_bytes(b"no")
    bake = ("bake", f"hub:{NAME}", "--output", "o.onnx")
    assert "made of" not in polybake(tmp_path, *bake, HF_ENDPOINT=hub.endpoint)
    assert "vocab.txt" not in hub.fetched
    (model / "tokenizer.json").unlink()
    (tmp_path / "later").mkdir()
    for settings in ({"HF_ENDPOINT": hub.endpoint}, {"HF_HUB_OFFLINE": "1"}):
        printed = " ".join(polybake(tmp_path / "later", *bake, **settings).split())
        assert "has no tokenizer.json; it was made of vocab.txt, as BertTokenizer makes" in printed
    assert "vocab.txt" in hub.fetched


def old_vocabulary(model: Path) -> list[str]:
    """The tokens of a tokenizer.json in the order of their ids."""
    ids = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    return sorted(ids, key=lambda token: int(ids[token]))


def test_weights_of_modules_and_shards(hub: Hub, model: Path, tmp_path: Path) -> None:
    """The weights in the folders that modules.json lists are fetched, and shards."""
    for name in ("2_Normalize/model.safetensors", "model-00001-of-00002.safetensors"):
        (model / name).write_text(name)
    polybake(tmp_path, "inspect", f"hub:{NAME}", HF_ENDPOINT=hub.endpoint)
    weights = {name for name in hub.fetched if name.endswith(".safetensors")}
    assert weights == {
        "2_Normalize/model.safetensors",
        "model-00001-of-00002.safetensors",
        "model.safetensors",
    }


def test_pickles_are_fetched_if_asked_for_and_needed(hub: Hub, model: Path, tmp_path: Path) -> None:
    """Only where there are no safetensors, and again from the cache."""
    weights = load_file(model / "model.safetensors")
    (model / "2_Normalize" / "pytorch_model.bin").write_bytes(b"no")
    (model / "2_Normalize" / "model.safetensors").write_bytes(b"no")
    bake = ("bake", f"hub:{NAME}", "--output", "o.onnx", "--pickle", "tensors")
    polybake(tmp_path, *bake, HF_ENDPOINT=hub.endpoint)
    assert not [name for name in hub.fetched if name.endswith(".bin")]
    (model / "model.safetensors").unlink()
    for name in ("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"):
        (model / name).write_text(name)  # the cache knows files by their contents
    write_torch(model / "pytorch_model.bin", weights)
    (tmp_path / "later").mkdir()
    refused = polybake(tmp_path / "later", *bake[:-2], code=2, HF_ENDPOINT=hub.endpoint)
    assert "--pickle tensors" in refused
    assert not [name for name in hub.fetched if name.endswith(".bin")]
    for settings in ({"HF_ENDPOINT": hub.endpoint}, {"HF_HUB_OFFLINE": "1"}):
        polybake(tmp_path / "later", *bake, **settings)
    assert {name for name in hub.fetched if name.endswith(".bin")} == {
        "pytorch_model.bin",
        "pytorch_model-00001-of-00002.bin",
        "pytorch_model-00002-of-00002.bin",
    }


def test_layers_beside_an_encoder_are_fetched(hub: Hub, model: Path, tmp_path: Path) -> None:
    """As the pickles that they are, if these may be read."""
    for name, arrays in m3_layers().items():
        write_torch(model / f"{name}.pt", arrays)
    tokens = {"cls_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "[UNK]"}
    change_json(model / "tokenizer_config.json", **tokens)
    bake = ("bake", f"hub:{NAME}", "--output", "o.onnx")
    polybake(tmp_path, *bake, HF_ENDPOINT=hub.endpoint)
    assert not [name for name in hub.fetched if name.endswith(".pt")]
    assert read_head(tmp_path / "o.onnx").manifest.contract.task == "embed"
    (tmp_path / "later").mkdir()
    polybake(tmp_path / "later", *bake, "--pickle", "tensors", HF_ENDPOINT=hub.endpoint)
    assert {name for name in hub.fetched if name.endswith(".pt")} == {
        "sparse_linear.pt",
        "colbert_linear.pt",
    }
    assert read_head(tmp_path / "later" / "o.onnx").manifest.contract.task == "hybrid"


@pytest.fixture
def unconverted(hub: Hub, model: Path, tmp_path: Path) -> Hub:
    """A hub whose model has no safetensors but in the pull request of its bot."""
    hub.converted[NAME] = Path(shutil.copytree(model, tmp_path / "converted"))
    (model / "model.safetensors").unlink()
    return hub


def test_safetensors_of_the_hubs_bot_are_taken(unconverted: Hub, tmp_path: Path) -> None:
    """The note and the manifest name the commit, which then needs no question."""
    bake = ("bake", f"hub:{NAME}", "--output", "o.onnx")
    printed = polybake(tmp_path, *bake, HF_ENDPOINT=unconverted.endpoint)
    assert "those of refs/pr/4 were taken" in " ".join(printed.split())
    pinned = f"hub:{NAME}@{CONVERTED}"
    assert read_head(tmp_path / "o.onnx").manifest.source.identifier == pinned
    polybake(tmp_path, "bake", pinned, "--output", "again.onnx", HF_HUB_OFFLINE="1")
    assert (tmp_path / "o.onnx").read_bytes() == (tmp_path / "again.onnx").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"pull_request": {"author": {"name": "somebody"}}},
        {"pull_request": {"title": "Adding weights"}},
        {"pull_request": {"status": "closed"}},
        {"parents": ["1" * 40, COMMIT]},
        {"parents": []},
    ],
)
def test_other_pull_requests_are_not_taken(
    unconverted: Hub, tmp_path: Path, change: dict[str, Any]
) -> None:
    """Another author, another purpose, or a conversion of an earlier commit."""
    for name, value in change.items():
        setattr(unconverted, name, value)
    printed = polybake(tmp_path, "bake", f"hub:{NAME}", code=2, HF_ENDPOINT=unconverted.endpoint)
    assert "has no model.safetensors" in " ".join(printed.split())


def test_a_named_revision_is_that_one(unconverted: Hub, tmp_path: Path) -> None:
    """Nothing is looked for in its place."""
    printed = polybake(
        tmp_path, "bake", f"hub:{NAME}@main", code=2, HF_ENDPOINT=unconverted.endpoint
    )
    assert "has no model.safetensors" in " ".join(printed.split())


def test_bakes_a_router_from_the_hub(tmp_path: Path) -> None:
    """Its modules lie in folders that modules.json does not list."""
    model = write_two_encoders(tmp_path / "model")
    with serve(Hub({NAME: model})) as hub:
        polybake(tmp_path, "bake", f"hub:{NAME}", "--output", "out.onnx", HF_ENDPOINT=hub.endpoint)
    assert read_head(tmp_path / "out.onnx").manifest.encoder == "query: bert; document: bert"
    weights = {name for name in hub.fetched if name.endswith(".safetensors")}
    assert weights == {f"{name}/model.safetensors" for name in ("q_bert", "d_bert", "q_dense")}


def test_metadata_of_colbert_is_fetched(tmp_path: Path) -> None:
    """Stanford's ColBERT keeps the lengths of its texts in a file of its own."""
    model = write_stanford(tmp_path / "model")
    with serve(Hub({NAME: model})) as hub:
        polybake(tmp_path, "bake", f"hub:{NAME}", "--output", "out.onnx", HF_ENDPOINT=hub.endpoint)
    assert "artifact.metadata" in hub.fetched
    assert read_head(tmp_path / "out.onnx").manifest.contract.prompts["query"] == "query "


def test_refuses_modules_before_fetching_weights(hub: Hub, model: Path, tmp_path: Path) -> None:
    """A download of gigabytes is no way to learn that a module is not known."""
    types = (model / "modules.json").read_text().replace("models.Normalize", "models.AudioModel")
    (model / "modules.json").write_text(types)
    printed = polybake(tmp_path, "bake", f"hub:{NAME}", code=2, HF_ENDPOINT=hub.endpoint)
    assert "unknown module type 'sentence_transformers.models.AudioModel'" in printed
    assert "model.safetensors" not in hub.fetched


def test_refuses_chat_templates(tmp_path: Path) -> None:
    """A template in a folder of templates is seen in a repository, too."""
    model = write_bert(tmp_path / "model")
    (model / "additional_chat_templates").mkdir()
    (model / "additional_chat_templates" / "rag.jinja").write_text("{{ messages }}")
    with serve(Hub({NAME: model})) as hub:
        printed = polybake(tmp_path, "bake", f"hub:{NAME}", code=2, HF_ENDPOINT=hub.endpoint)
    assert "has additional_chat_templates/rag.jinja" in printed


def test_init_then_bake_from_a_cache(model: Path, tmp_path: Path) -> None:
    """polybake.toml keeps the reference; a cache, made of links, bakes without a network."""
    write_cache(tmp_path / "cache", NAME, model)
    (tmp_path / "hub:owner" / "Tiny-Bert").mkdir(parents=True)  # is not looked at
    polybake(tmp_path, "init", f"hub:{NAME}", "--output", "a/polybake.toml", HF_HUB_OFFLINE="1")
    assert f'source = "hub:{NAME}"\n' in (tmp_path / "a/polybake.toml").read_text()
    polybake(tmp_path, "bake", "a/polybake.toml", HF_HUB_OFFLINE="1")
    head = read_head(tmp_path / "a/build/tiny-bert.onnx")
    assert head.manifest.source.identifier == f"hub:{NAME}@{COMMIT}"
    assert head.manifest.source.revision == COMMIT


def test_a_plain_folder(tmp_path: Path) -> None:
    """A repository of transformers alone opens too."""
    write_cache(tmp_path / "cache", NAME, write_bert(tmp_path / "plain"))
    shown = polybake(tmp_path, "inspect", f"hub:{NAME}", "--json", HF_HUB_OFFLINE="1")
    facts = json.loads(shown)
    assert (facts["encoder"], facts["source"]) == ("bert", f"hub:{NAME}@{COMMIT}")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "hub:owner/nothing",
            "hub:owner/nothing: there is no such model on the hub, or it is private",
        ),
        (f"hub:{NAME}@v9", f"hub:{NAME}@v9: the model has no such revision; name a branch, a tag"),
        ("hub:owner/gated", "hub:owner/gated: is gated; accept its terms on its page on the hub"),
        ("hub:owner", "hub:owner: names no repository; expected hub:owner/name or hub:owner/name@"),
    ],
)
def test_what_cannot_be_had_is_named(hub: Hub, source: str, message: str, tmp_path: Path) -> None:
    """One line says what is wrong and what to do, and nothing is written."""
    printed = polybake(tmp_path, "bake", source, code=2, HF_ENDPOINT=hub.endpoint)
    assert printed.startswith(f"polybake: {message}"), printed
    assert printed.count("\n") == 1
    if "gated" in message or "private" in message:
        assert "set HF_TOKEN, or run: hf auth login" in printed
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize(
    "settings", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}]
)
def test_without_a_network_or_a_cache(settings: dict[str, str], tmp_path: Path) -> None:
    """The cache that was looked into is named, and how to fill it."""
    printed = polybake(tmp_path, "bake", f"hub:{NAME}", code=3, **settings)
    expected = f"hub:{NAME}: is not whole in the cache {tmp_path / 'cache'}, and the hub cannot be"
    assert printed.startswith(f"polybake: {expected}"), printed
    assert printed.count("\n") == 1


def test_a_cache_with_a_link_that_leads_out(model: Path, tmp_path: Path) -> None:
    """A snapshot may link to its own blobs only."""
    snapshot = write_cache(tmp_path / "cache", NAME, model)
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to(model / "config.json")
    printed = polybake(tmp_path, "inspect", f"hub:{NAME}", code=2, HF_HUB_OFFLINE="1")
    assert "outside the model's folder" in printed
