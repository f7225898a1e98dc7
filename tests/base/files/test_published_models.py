"""What published models are known to have, and by what they are known."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import change_json, write_bert
from polybake.baking.steps import STEPS, Pool
from polybake.base.files import published_models as module
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.published_models import Published, published, published_model

PASSAGES = "Represent this sentence for searching relevant passages: "
SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
LISTS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(module.__file__).with_suffix(".toml").read_text("utf-8")
)
PROMPTED = [name for models in LISTS["prompts"] for name in models["repositories"]]
STEPPED = [name for models in LISTS["steps"] for name in models["repositories"]]


def of(folder: Path) -> Published | None:
    return published_model(ModelFolder.at(folder))


@pytest.mark.parametrize(
    ("name", "prompts"),
    [
        ("intfloat/e5-small-v2", {"query": "query: ", "document": "passage: "}),
        ("Qwen/Qwen3-Embedding-0.6B", {"query": f"{SEARCH}Query:"}),
        ("WhereIsAI/UAE-Large-V1", {"query": PASSAGES}),
        ("avsolatorio/GIST-Embedding-v0", {}),
    ],
)
def test_the_text_of_a_family(name: str, prompts: dict[str, str]) -> None:
    """Each is the model card's, to the last space."""
    found = published(name)
    assert found is not None
    assert (found.repository, found.prompts) == (name, prompts)


def test_the_steps_of_a_model() -> None:
    """Each is that of modules.json in the repository; of some nobody has read it."""
    found = published("sentence-transformers/LaBSE")
    assert found is not None
    assert found.steps == (
        {"step": "pool", "mode": "cls"},
        {"step": "dense"},
        {"step": "normalize"},
    )
    assert "{" not in found.steps_source
    unread = published("MongoDB/mdbr-leaf-ir")
    assert unread is not None
    assert unread.steps == ()


def test_the_table_is_whole() -> None:
    """Entries cite where they stand and have known keys and steps; no two models share a name."""
    settings = Path(__file__).resolve().parents[3] / "docs" / "settings.md"
    said = f"of {len({*PROMPTED, *STEPPED})} models, with where each was read"
    assert said in settings.read_text("utf-8")
    for listed in (PROMPTED, STEPPED):
        assert len({*listed}) == len(listed)
    names = [name.partition("/")[2].lower() for name in {*PROMPTED, *STEPPED}]
    assert len({*names}) == len(names)
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+", name) for name in (*PROMPTED, *STEPPED))
    assert all(re.fullmatch(r"https://\S+", one["source"]) for one in chain(*LISTS.values()))
    for models in LISTS["prompts"]:
        assert models.keys() <= {"repositories", "source", "texts", "remark"}
        assert all(
            re.search(r"(: |:|\N{FULLWIDTH COLON})$", one) for one in models["texts"].values()
        )
    for models in LISTS["steps"]:
        assert models.keys() == {"repositories", "source", "steps"}
        pool, *others = models["steps"]
        assert pool["step"] == "pool"
        Pool(mode=pool["mode"])
        assert all(step.keys() == {"step"} and step["step"] in STEPS for step in others)


@pytest.mark.parametrize(
    "called",
    [
        "e5-small-v2",
        "E5-Small-V2",
        "intfloat_e5-small-v2",
        "intfloat--e5-small-v2",
        "models--intfloat--e5-small-v2/snapshots/1",
    ],
)
def test_a_folder_is_known_by_its_whole_name(called: str, tmp_path: Path) -> None:
    """The hub's cache, clones and downloads call it so."""
    found = of(write_bert(tmp_path / called))
    assert found is not None
    assert (found.repository, found.is_base) == ("intfloat/e5-small-v2", False)
    assert published("hub:intfloat/e5-small-v2@0123abc") == found


@pytest.mark.parametrize(
    "called",
    [
        *("my-e5-small-v2", "e5-small-v2-tuned", "bge-reranker-base", "bge-m3-mine", "model"),
        *("models--someone--e5-small-v2/snapshots/1", "kalm-instruct"),
    ],
)
def test_no_folder_is_known_by_a_likeness(called: str, tmp_path: Path) -> None:
    """A model that was made from another may have been trained without its prompts."""
    assert of(write_bert(tmp_path / called)) is None


@pytest.mark.parametrize(
    ("metadata", "known"),
    [
        ("model-index:\n- name: e5-small-v2\n  results: []", True),
        ("base_model: intfloat/e5-small-v2\nlibrary_name: transformers.js", True),
        ("base_model: intfloat/e5-small-v2\nlibrary_name: 'transformers.js'", True),
        ("base_model:\n- intfloat/e5-small-v2\nbase_model_relation: quantized", True),
        ("base_model: intfloat/e5-small-v2", False),
        ("base_model: intfloat/e5-small-v2\nlibrary_name: sentence-transformers", False),
        ("model-index:\n- name: my e5-small-v2", False),
        pytest.param("model-index:" + "\n" * 200_000, False, id="lines without end"),
    ],
)
def test_a_readme_that_says_which_model_it_is(metadata: str, known: bool, tmp_path: Path) -> None:
    """A conversion is the model itself; one that was made from it is not."""
    folder = write_bert(tmp_path / "model")
    (folder / "README.md").write_text(f"---\nlicense: mit\n{metadata}\n---\n# e5-small-v2\n")
    assert (of(folder) is not None) is known


@pytest.mark.parametrize("name", ["e5-small-v2", "/models/intfloat/e5-small-v2", 3, {"a": 1}])
def test_a_config_that_names_no_repository(name: object, tmp_path: Path) -> None:
    """A path on another machine says nothing, and a name of another type is no error."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", _name_or_path=name)
    assert of(folder) is None


@pytest.mark.parametrize(
    ("called", "readme", "is_it"),
    [
        ("model", "", False),
        ("models--Xenova--e5-small-v2/snapshots/1", "", True),
        ("models--Qdrant--e5-small-v2-onnx-Q/snapshots/1", "", True),
        ("models--onnx-community--E5-small-v2-ONNX/snapshots/1", "", True),
        ("fast-e5-small-v2", "", True),
        ("model", '---\nlibrary_name: "transformers.js"\n---\n', True),
        ("model", "---\nlibrary_name: sentence-transformers\n---\n", False),
        ("e5-small-v2-tuned", "", False),
        ("e5-small-v2-onnx-mine", "", False),
    ],
)
def test_a_conversion_keeps_the_name_in_config(
    called: str, readme: str, is_it: bool, tmp_path: Path
) -> None:
    """It is the model itself where its own name or its README agrees; else it may be trained on."""
    folder = write_bert(tmp_path / called)
    change_json(folder / "config.json", _name_or_path="intfloat/e5-small-v2")
    (folder / "README.md").write_text(readme)
    found = of(folder)
    assert found is not None
    assert (found.known_by, found.is_base) == ("config.json", not is_it)
    assert is_it or found.named == "intfloat/e5-small-v2, which config.json names,"


def test_a_folders_own_name_counts_first(tmp_path: Path) -> None:
    """A model that wants no prompts has none, whatever config.json names."""
    folder = write_bert(tmp_path / "GIST-small-Embedding-v0")
    change_json(folder / "config.json", _name_or_path="BAAI/bge-small-en-v1.5")
    found = of(folder)
    assert found is not None
    assert found.prompts == {}
