"""The prompts of a bake: texts, routes, lengths, and what a causal model computes once."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from models.bake import bake as bake_steps
from models.folders.causal import TEMPLATE, write_logit_score
from models.folders.drawn import write_drawn
from models.folders.tiny_folders import change_json, write_bert, write_tokenizer
from polybake import Embedder, bake
from polybake.baking.assemble import prefixes
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.graph.all_rows import compute_all_rows
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import CachedPrompts
from polybake.steps import Normalize, Pool, Route, Scale
from support.samples.weekly import weekly_but

ROUTE = Route(
    routes={"query": (Normalize(),), "document": (Scale(factor=2.0),)},
    default="document",
    prompts={"passage": "document"},
)


def test_counts_all_but_the_last_special_token(tmp_path: Path) -> None:
    """[CLS] query : [SEP] takes three tokens; a prompt that fills the window takes the rest.

    A tokenizer that ends no text in a special token loses none.
    """
    write_tokenizer(tmp_path)
    tokenizer = open_tokenizer(ModelFolder.at(tmp_path))
    assert len(tokenizer.beginning("query: ")) == 3
    assert len(tokenizer.beginning("the water " * 40)) == tokenizer.max_length - 1
    change_json(tmp_path / "tokenizer.json", post_processor=None)
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    tokenizer = open_tokenizer(ModelFolder.at(tmp_path))
    assert len(tokenizer.beginning("query: ")) == 2
    assert len(tokenizer.beginning(" ")) == 0


def test_counts_the_space_that_a_word_would_take(tmp_path: Path) -> None:
    """The prompt is counted alone, even where its last space joins the first word of a text."""
    write_tokenizer(tmp_path)
    words = Tokenizer(models.BPE({"a": 0, "Ġ": 1, "b": 2, "Ġb": 3}, merges=[("Ġ", "b")]))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.save(str(tmp_path / "tokenizer.json"))
    change_json(tmp_path / "tokenizer_config.json", pad_token="a")
    tokenizer = open_tokenizer(ModelFolder.at(tmp_path))
    assert tokenizer.encode(["a b"]) == [[0, 3]]
    assert len(tokenizer.beginning("a ")) == 2


def test_an_input_has_a_value_for_every_prompt(tmp_path: Path) -> None:
    """The contract says what to feed for each prompt, and without one; no text takes no token."""
    source = open_source(write_bert(tmp_path))
    pool = Pool(mode="mean", include_prompt=False)
    (found,) = bake_prompts(source, [pool], {"query": "query: ", "plain": ""}, None).inputs
    assert (found.name, found.feed) == ("prompt_length", "prompt_value")
    assert found.values == {"": 0, "query": 3, "plain": 0}


def test_prompts_take_routes(tmp_path: Path) -> None:
    """A route that no prompt takes gets an empty prompt of its name.

    Each prompt takes its route; other prompts, and calls without one, take the default, even where
    there is a default prompt: sentence-transformers would take its text and the default route.
    """
    source = open_source(write_bert(tmp_path))
    assert bake_prompts(source, [ROUTE], {}, None).texts == {"query": "", "document": ""}
    passage = bake_prompts(source, [ROUTE], {"passage": "p: "}, "passage")
    assert passage.texts == {"passage": "p: ", "query": ""}
    assert passage.inputs[0].values[""] == 1
    assert bake_prompts(source, [], {"query": "q: "}, None).texts == {"query": "q: "}
    prompts = {"query": "", "passage": "p: ", "other": "o: "}
    (one,) = bake_prompts(source, [ROUTE], prompts, None).inputs
    assert (one.name, one.feed) == ("route", "prompt_value")
    assert one.values == {"": 1, "query": 0, "passage": 1, "other": 1}


LAST = [{"step": "pool", "mode": "lasttoken"}, {"step": "normalize"}]
PROMPTS = {
    "query": "a river is\nQuery: ",
    "same": "a river is\nQuery: ",
    "longer": "a river is\nQuery: bread is\n",
    "short": "a",
}
TEXTS = ["a river", "bread is baked", "", "\u4e2d\u6587", "vectors of"]
KINDS = weekly_but(2, ["gemma", "qwen3", "llama", "mistral", "qwen2"])


def folder(tmp_path: Path, kind: str = "qwen3") -> Path:
    (tmp_path / "model").mkdir(exist_ok=True)
    return write_drawn(tmp_path / "model", kind)


def cached(out: Path) -> CachedPrompts | None:
    return read_head(out).manifest.cached


def baked(source: Path, out: Path, **settings: Any) -> Path:
    given: dict[str, Any] = {"name": "my-model", "steps": LAST, "prompts": PROMPTS} | settings
    return bake(source, out, **given).path


def without_cache(
    source: Path, out: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> Path:
    module = import_module("polybake.baking.bake")
    monkeypatch.setattr(module, "cache_prefixes", lambda _source, encoder, *_: encoder)
    return baked(source, out, **settings)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_the_whole_rows(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind each prompt, without one, and with several in one batch."""
    source = folder(tmp_path, kind)
    one = Embedder(baked(source, tmp_path / "cached.onnx"))
    known = cached(tmp_path / "cached.onnx")
    assert known is not None
    assert {*known.tokens} == {"query", "same", "longer"}
    whole = Embedder(without_cache(source, tmp_path / "whole.onnx", monkeypatch))
    rows = []
    for prompt in (None, *PROMPTS):
        found, expected = (model.embed(TEXTS, prompt=prompt) for model in (one, whole))
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)
        rows += one.tokenize(TEXTS, prompt=prompt)
    found, expected = (model.embed_ids(rows) for model in (one, whole))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


def computed(out: Path, rows: list[list[int]], *, undone: bool = False) -> int:
    """The tokens of each row that are computed."""
    model = onnx.load(out)
    if undone:
        compute_all_rows(model)
    model.graph.output.append(onnx.ValueInfoProto(name="ids_behind_prefix"))
    session = ort.InferenceSession(model.SerializeToString())
    width = max(map(len, rows))
    fed = {
        "input_ids": np.array([row + [0] * (width - len(row)) for row in rows]),
        "attention_mask": np.array([[1] * len(row) + [0] * (width - len(row)) for row in rows]),
    }
    return int(session.run(["ids_behind_prefix"], fed)[0].shape[1])


def test_a_prompt_is_not_computed_again(tmp_path: Path) -> None:
    """All rows of a call have it; a diagnosis computes it, as other rows do.

    Two layers' keys and values of two heads lie in the file, those of equal prompts once.
    """
    out = baked(folder(tmp_path), tmp_path / "cached.onnx")
    known, model = cached(out), Embedder(out)
    assert known is not None
    assert known.tokens["query"] == known.tokens["same"] < known.tokens["longer"]
    tokens = known.tokens["query"] + known.tokens["longer"]
    assert known.bytes == tokens * 2 * 2 * 2 * 64 * 4
    assert known.readable.startswith(f"query ({known.tokens['query']} tokens), same (")
    for prompt, tokens in known.tokens.items():
        rows = model.tokenize(TEXTS, prompt=prompt)
        width = max(map(len, rows))
        assert computed(out, rows) == width - tokens
        assert computed(out, rows, undone=True) == width
    rows = model.tokenize(TEXTS)
    assert computed(out, rows) == max(map(len, rows))


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": [{"step": "pool", "mode": "mean"}]},
        {"steps": [{"step": "pool", "mode": ["lasttoken", "cls"]}]},
        {"steps": [{"step": "pool", "mode": "lasttoken", "include_prompt": False}]},
        {"attention": "both"},
        {"prompts": {"query": "a"}},
        {"prompts": {}},
        {"expose": ["token_embeddings"]},
        {"of": "bert"},
    ],
)
def test_what_needs_every_token_computes_it(settings: dict[str, Any], tmp_path: Path) -> None:
    """Other pooling, attention to both sides, what is exposed; few tokens are not worth it."""
    source = folder(tmp_path, settings.get("of", "qwen3"))
    given = {key: value for key, value in settings.items() if key != "of"}
    if "attention" in settings:
        change_json(source / "config.json", auto_map={"AutoModel": "modeling_own.Own"})
    assert cached(baked(source, tmp_path / "whole.onnx", **given)) is None


def test_prompts_that_are_too_large_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are taken in their order as long as there is room."""
    monkeypatch.setattr(prefixes, "_MOST", 0)
    monkeypatch.setattr(prefixes, "_PART", 0)
    assert cached(baked(folder(tmp_path), tmp_path / "none.onnx")) is None
    monkeypatch.setattr(prefixes, "_MOST", 10 * 2 * 2 * 2 * 64 * 4)
    known = cached(baked(folder(tmp_path), tmp_path / "one.onnx"))
    assert known is not None
    assert {*known.tokens} == {"query", "same"}


@pytest.mark.weekly
def test_what_a_reranker_is_asked_is_computed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that stands before a query."""
    source = write_logit_score(tmp_path / "model", template=TEMPLATE)
    settings: dict[str, Any] = {"steps": None, "prompts": None, "task": "rerank"}
    one = baked(source, tmp_path / "cached.onnx", **settings)
    known = cached(one)
    assert known is not None
    assert known.tokens[""] > 20
    whole = without_cache(source, tmp_path / "whole.onnx", monkeypatch, **settings)
    for mine, other in zip(
        read_head(one).fixture.cases, read_head(whole).fixture.cases, strict=True
    ):
        assert mine.input_ids == other.input_ids
        for found, expected in zip(mine.answer, other.answer, strict=True):  # type: ignore[arg-type]
            assert found["index"] == expected["index"]  # type: ignore[index,call-overload]
            assert found["score"] == pytest.approx(expected["score"], abs=2e-6)  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    "reduced",
    weekly_but(1, [{"storage": "float16"}, {"precision": "int8"}, {"precision": "int4"}]),
    ids=str,
)
def test_a_file_of_lower_precision_has_it(reduced: dict[str, str], tmp_path: Path) -> None:
    """What follows a prompt is computed as before."""
    source = open_source(folder(tmp_path))
    steps = resolve(LAST, base=tmp_path, source=source)
    out = tmp_path / "lower.onnx"
    bake_steps(source, steps, out, name="my-model", prompts=PROMPTS, **reduced)
    known, model = cached(out), Embedder(out)
    assert known is not None
    rows = model.tokenize(TEXTS, prompt="query")
    assert computed(out, rows) == max(map(len, rows)) - known.tokens["query"]
    assert np.isfinite(model.embed(TEXTS, prompt="query")).all()


def test_it_may_lie_beside_the_graph(tmp_path: Path) -> None:
    """As weights do."""
    out = baked(folder(tmp_path), tmp_path / "cached.onnx", weights="beside")
    assert cached(out) is not None
    assert np.isfinite(Embedder(out).embed(TEXTS, prompt="query")).all()
