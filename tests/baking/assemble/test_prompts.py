"""The prompts of a bake: their texts, their routes, and how many tokens they take."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

from models.folders.tiny_folders import change_json, write_bert, write_tokenizer
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.bake import bake
from polybake.baking.sources import open_source
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.runtime.embedder import Embedder
from polybake.runtime.tokenization.tokenizer import bake_tokenizer
from polybake.steps import Normalize, Pool, Route, Scale

ROUTE = Route(
    routes={"query": (Normalize(),), "document": (Scale(factor=2.0),)},
    default="document",
    prompts={"passage": "document"},
)


def test_counts_all_but_the_last_special_token(tmp_path: Path) -> None:
    """[CLS] query : [SEP] takes three tokens; a prompt that fills the window takes the rest."""
    write_tokenizer(tmp_path)
    tokenizer = bake_tokenizer(ModelFolder.at(tmp_path))
    assert len(tokenizer.beginning("query: ")) == 3
    assert len(tokenizer.beginning("the water " * 40)) == tokenizer.max_length - 1


def test_counts_the_last_token_where_it_is_not_special(tmp_path: Path) -> None:
    """A tokenizer that ends no text in a special token loses none."""
    write_tokenizer(tmp_path)
    change_json(tmp_path / "tokenizer.json", post_processor=None)
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    tokenizer = bake_tokenizer(ModelFolder.at(tmp_path))
    assert len(tokenizer.beginning("query: ")) == 2
    assert len(tokenizer.beginning(" ")) == 0


def test_counts_the_space_that_a_word_would_take(tmp_path: Path) -> None:
    """The prompt is counted alone, even where its last space joins the first word of a text."""
    write_tokenizer(tmp_path)
    words = Tokenizer(models.BPE({"a": 0, "Ġ": 1, "b": 2, "Ġb": 3}, merges=[("Ġ", "b")]))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.save(str(tmp_path / "tokenizer.json"))
    change_json(tmp_path / "tokenizer_config.json", pad_token="a")
    tokenizer = bake_tokenizer(ModelFolder.at(tmp_path))
    assert tokenizer.encode(["a b"]) == [[0, 3]]
    assert len(tokenizer.beginning("a ")) == 2


def test_an_input_has_a_value_for_every_prompt(tmp_path: Path) -> None:
    """The contract says what to feed for each prompt, and without one; no text takes no token."""
    source = open_source(write_bert(tmp_path))
    pool = Pool(mode="mean", include_prompt=False)
    (found,) = bake_prompts(source, [pool], {"query": "query: ", "plain": ""}, None).inputs
    assert (found.name, found.feed) == ("prompt_length", "prompt_value")
    assert found.values == {"": 0, "query": 3, "plain": 0}


def test_every_route_can_be_named(tmp_path: Path) -> None:
    """A route that no prompt takes gets an empty prompt of its name."""
    source = open_source(write_bert(tmp_path))
    assert bake_prompts(source, [ROUTE], {}, None).texts == {"query": "", "document": ""}
    passage = bake_prompts(source, [ROUTE], {"passage": "p: "}, None)
    assert passage.texts == {"passage": "p: ", "query": ""}
    assert bake_prompts(source, [], {"query": "q: "}, None).texts == {"query": "q: "}


def test_values_are_numbers_of_routes(tmp_path: Path) -> None:
    """Each prompt takes its route; other prompts, and calls without one, take the default."""
    prompts = {"query": "", "passage": "p: ", "other": "o: "}
    source = open_source(write_bert(tmp_path))
    (one,) = bake_prompts(source, [ROUTE], prompts, None).inputs
    assert (one.name, one.feed) == ("route", "prompt_value")
    assert one.values == {"": 1, "query": 0, "passage": 1, "other": 1}


def test_default_prompt_takes_the_default_route(tmp_path: Path) -> None:
    """sentence-transformers would take the prompt's text and the default route."""
    source = open_source(write_bert(tmp_path))
    (one,) = bake_prompts(source, [ROUTE], {"passage": "p: "}, "passage").inputs
    assert one.values[""] == 1


def test_bake_takes_the_prompt_length(tmp_path: Path) -> None:
    """A bake adds the input, proves it with every prompt, and its file reproduces its cases."""
    source = open_source(write_bert(tmp_path / "model"))
    prompts = {"query": "query: ", "passage": "passage: the "}
    vectors = {}
    for name, pool in {
        "with": Pool(mode="mean"),
        "without": Pool(mode="mean", include_prompt=False),
    }.items():
        report = bake(
            source, [pool, Normalize()], tmp_path / f"{name}.onnx", name="tiny", prompts=prompts
        )
        Embedder(report.path).self_check()
        cases = read_head(report.path).fixture.cases
        vectors[name] = {
            case.prompt: decode_vectors(case.embeddings) for case in cases if case.prompt
        }
    inputs = report.manifest.contract.inputs
    assert inputs[-1].values == {"": 0, "query": 3, "passage": 4}
    assert vectors["with"].keys() == vectors["without"].keys() == prompts.keys()
    for prompt in prompts:
        assert abs(vectors["with"][prompt] - vectors["without"][prompt]).max() > 1e-3
