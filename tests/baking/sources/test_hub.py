"""Models of the Hugging Face hub: from a server, and from the cache without one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
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
from polybake.baking.sources import Source, open_source
from polybake.base.files.hub_reference import parse_source
from polybake.base.files.model_folder import SourceSettings
from polybake.base.modelfile.container import read_head
from polybake.cli.main import app
from polybake.errors import InputError, PolybakeError, RequirementMissing
from support.hub.hub_cache import write_cache
from support.hub.hub_server import COMMIT, CONVERTED, Hub, serve
from support.processes import commandline

constants = pytest.importorskip("huggingface_hub.constants", reason='pip install ".[hub]"')

NAME = "owner/Tiny-Bert"
MAIN = "model.safetensors"

#: What a repository may hold too; no bake reads any of it.
OTHERS = (
    "pytorch_model.bin",
    "model.onnx",
    "train.py",
    "other.safetensors",
    "old/model.safetensors",
)

Reach = Callable[..., None]


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


@pytest.fixture
def reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reach:
    """Let the hub's client have a cache of its own, and an endpoint or no network."""

    def to(endpoint: str | None, cache: str = "cache") -> None:
        url = endpoint or "http://127.0.0.1:9"
        template = url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / cache))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", endpoint is None)

    return to


def opened(reference: str = f"hub:{NAME}", **asked: Any) -> Source:
    """The source of a reference."""
    return open_source(parse_source(reference), SourceSettings(**asked))


def fetched(hub: Hub, *endings: str) -> set[str]:
    """What was downloaded of files with these endings."""
    return {name for name in hub.fetched if name.endswith(endings)}


@pytest.mark.weekly
@pytest.mark.slow
def test_bakes_from_the_hub_and_again_without_it(hub: Hub, tmp_path: Path) -> None:
    """Only what a bake reads is fetched; the manifest names the commit; the cache then suffices."""
    home = {"HF_HUB_CACHE": str(tmp_path / "cache"), "HF_HOME": str(tmp_path)}
    for number, settings in enumerate(({"HF_ENDPOINT": hub.endpoint}, {"HF_HUB_OFFLINE": "1"})):
        bake = ("bake", f"hub:{NAME}@v1", "--output", f"{number}.onnx")
        commandline.polybake(*bake, cwd=tmp_path, **home, **settings)
    manifest = read_head(tmp_path / "0.onnx").manifest
    assert manifest.source.identifier == f"hub:{NAME}@{COMMIT}"
    assert (manifest.name, manifest.source.licence) == ("tiny-bert", "mit")
    assert manifest.steps == ("pool(mode=mean)", "normalize()")
    assert (tmp_path / "0.onnx").read_bytes() == (tmp_path / "1.onnx").read_bytes()
    settings = ("modules.json", "1_Pooling/config.json", "2_Normalize/config.json", "config.json")
    tokenizer = ("tokenizer.json", "tokenizer_config.json")
    assert hub.fetched == {*settings, *tokenizer, "README.md", MAIN}


@pytest.mark.slow
def test_init_then_bake_from_a_cache(
    model: Path, reach: Reach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """polybake.toml keeps the reference; a cache, made of links, bakes without a network."""
    write_cache(tmp_path / "cache", NAME, model)
    (tmp_path / "hub:owner" / "Tiny-Bert").mkdir(parents=True)  # is not looked at
    reach(None)
    monkeypatch.chdir(tmp_path)
    app(["init", f"hub:{NAME}"], standalone_mode=False)
    assert f'source = "hub:{NAME}"\n' in Path("polybake.toml").read_text()
    app(["bake"], standalone_mode=False)
    source = read_head(Path("build/tiny-bert.onnx")).manifest.source
    assert (source.identifier, source.revision) == (f"hub:{NAME}@{COMMIT}", COMMIT)


@pytest.mark.weekly
def test_the_files_of_an_older_tokenizer_are_fetched(hub: Hub, model: Path, reach: Reach) -> None:
    """Only where there is no tokenizer.json; a note says of which it was made."""
    ids = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    old = sorted(ids, key=lambda token: int(ids[token]))
    (model / "vocab.txt").write_text("".join(f"{token}\n" for token in old))
    (model / "spiece.model").write_bytes(b"no")
    reach(hub.endpoint)
    assert not opened().tokenizer.note
    assert not fetched(hub, "vocab.txt", ".model")
    (model / "tokenizer.json").unlink()
    for endpoint in (hub.endpoint, None):
        reach(endpoint, "later")
        assert "made it of vocab.txt, as BertTokenizer" in opened().tokenizer.note
    assert fetched(hub, "vocab.txt")


def with_shards(folder: Path) -> Path:
    """A model with weights in a module's folder, and in shards."""
    write_sentence_transformers(folder, ("Pooling", {"pooling_mode": "mean"}))
    for name in (f"1_Pooling/{MAIN}", "model-00001-of-00002.safetensors"):
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (with_shards, {MAIN, f"1_Pooling/{MAIN}", "model-00001-of-00002.safetensors"}),
        (write_two_encoders, {f"{name}/{MAIN}" for name in ("q_bert", "d_bert", "q_dense")}),
        (write_stanford, {MAIN, "artifact.metadata"}),
    ],
    ids=["shards", "router", "ColBERT"],
)
def test_weights_are_fetched(
    write: Callable[[Path], Path], names: set[str], reach: Reach, tmp_path: Path
) -> None:
    """In folders that modules.json lists, or a Router, and with what other libraries need."""
    with serve(Hub({NAME: write(tmp_path / "model")})) as hub:
        reach(hub.endpoint)
        opened()
    assert fetched(hub, "safetensors", "metadata") == names


def test_pickles_are_fetched_if_asked_for_and_needed(hub: Hub, model: Path, reach: Reach) -> None:
    """Only where there are no safetensors, and again from the cache."""
    weights = load_file(model / MAIN)
    (model / "2_Normalize" / "pytorch_model.bin").write_bytes(b"no")
    (model / "2_Normalize" / MAIN).write_bytes(b"no")
    reach(hub.endpoint)
    opened(pickle="tensors")
    (model / MAIN).unlink()
    shards = {f"pytorch_model-0000{number}-of-00002.bin" for number in (1, 2)}
    for name in shards:
        (model / name).write_text(name)  # the cache knows files by their contents
    write_torch(model / "pytorch_model.bin", weights)
    reach(hub.endpoint, "later")
    with pytest.raises(InputError, match=r"--set model\.pickle=tensors"):
        opened()
    assert not fetched(hub, ".bin")
    for endpoint in (hub.endpoint, None):
        reach(endpoint, "later")
        opened(pickle="tensors")
    assert fetched(hub, ".bin") == {"pytorch_model.bin", *shards}


def test_layers_beside_an_encoder_are_fetched(hub: Hub, model: Path, reach: Reach) -> None:
    """As the pickles that they are, if these may be read."""
    for name, arrays in m3_layers().items():
        write_torch(model / f"{name}.pt", arrays)
    tokens = {"cls_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "[UNK]"}
    change_json(model / "tokenizer_config.json", **tokens)
    reach(hub.endpoint)
    assert opened().head is None
    assert not fetched(hub, ".pt")
    reach(hub.endpoint, "later")
    assert opened(pickle="tensors").head is not None
    assert fetched(hub, ".pt") == {"sparse_linear.pt", "colbert_linear.pt"}


@pytest.fixture
def unconverted(hub: Hub, model: Path, tmp_path: Path) -> Hub:
    """A hub whose model has no safetensors but in the pull request of its bot."""
    hub.converted[NAME] = Path(shutil.copytree(model, tmp_path / "converted"))
    (model / MAIN).unlink()
    return hub


def test_safetensors_of_the_hubs_bot_are_taken(unconverted: Hub, reach: Reach) -> None:
    """The note and the manifest name the commit, which then needs no question."""
    reach(unconverted.endpoint)
    folder = opened().folder
    assert "those of refs/pr/4 were taken" in "".join(folder.notes)
    assert folder.identifier == f"hub:{NAME}@{CONVERTED}"
    reach(None)
    assert opened(folder.identifier).folder.path == folder.path


@pytest.mark.parametrize(
    ("change", "revision"),
    [
        ({"pull_request": {"author": {"name": "somebody"}}}, ""),
        ({"pull_request": {"title": "Adding weights"}}, ""),
        ({"pull_request": {"status": "closed"}}, ""),
        ({"parents": ["1" * 40, COMMIT]}, ""),
        ({"parents": []}, ""),
        ({}, "@main"),
    ],
)
def test_other_pull_requests_are_not_taken(
    unconverted: Hub, reach: Reach, change: dict[str, Any], revision: str
) -> None:
    """Another author, another purpose, a conversion of an earlier commit; or one is named."""
    for name, value in change.items():
        setattr(unconverted, name, value)
    reach(unconverted.endpoint)
    with pytest.raises(InputError, match=r"has no model\.safetensors"):
        opened(f"hub:{NAME}{revision}")


def test_modules_are_refused_before_weights_are_fetched(reach: Reach, tmp_path: Path) -> None:
    """A download of gigabytes is no way to learn that a module is not known."""
    model = write_sentence_transformers(tmp_path / "model", ("AudioModel", {}))
    with serve(Hub({NAME: model})) as hub:
        reach(hub.endpoint)
        with pytest.raises(InputError, match=r"unknown module type '.*\.AudioModel'"):
            opened()
    assert not fetched(hub, MAIN)


def test_chat_templates_are_refused(reach: Reach, tmp_path: Path) -> None:
    """A template in a folder of templates is seen in a repository, too."""
    model = write_bert(tmp_path / "model")
    (model / "additional_chat_templates").mkdir()
    (model / "additional_chat_templates" / "rag.jinja").write_text("{{ messages }}")
    with serve(Hub({NAME: model})) as hub:
        reach(hub.endpoint)
        with pytest.raises(InputError, match=r"has additional_chat_templates/rag\.jinja"):
            opened()


@pytest.mark.parametrize(
    ("reference", "online", "error", "message"),
    [
        ("hub:owner/nothing", True, InputError, "no such model .* or it is private.*set HF_TOKEN"),
        (f"hub:{NAME}@v9", True, InputError, "no such revision; name a branch, a tag"),
        ("hub:owner/gated", True, InputError, "gated; accept its terms .*hf auth login"),
        (f"hub:{NAME}", False, RequirementMissing, "is not whole in the cache .*/cache, and the"),
    ],
)
def test_what_cannot_be_had_is_named(
    hub: Hub,
    reference: str,
    online: bool,
    error: type[PolybakeError],
    message: str,
    reach: Reach,
) -> None:
    """One line says what is wrong and what to do."""
    reach(hub.endpoint if online else None)
    with pytest.raises(error, match=f"^{reference}: .*{message}.*$"):
        opened(reference)


def test_a_hub_that_cannot_be_reached_is_named(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a machine without a network is."""
    reach(None)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with pytest.raises(RequirementMissing, match=r"is not whole in the cache .*cannot be reached"):
        opened()
