"""How many tokens a prompt takes from pooling."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from models.tiny_folders import change_json, write_bert, write_tokenizer
from polybake.baking.bake import bake
from polybake.baking.prompt_length import prompt_length, prompt_length_input
from polybake.files.model_folder import ModelFolder
from polybake.modelfile.container import read_head
from polybake.modelfile.fixture import decode_vectors
from polybake.runtime.self_check import self_check
from polybake.sources import open_source
from polybake.steps import Normalize, Pool
from polybake.tokenization.tokenizer import BakedTokenizer, bake_tokenizer


@pytest.fixture
def tokenizer(tmp_path: Path) -> BakedTokenizer:
    write_tokenizer(tmp_path)
    return bake_tokenizer(ModelFolder.at(tmp_path))


def test_counts_the_first_special_token_and_not_the_last(tokenizer: BakedTokenizer) -> None:
    """[CLS] query : [SEP] takes three tokens."""
    assert prompt_length("query: ", tokenizer) == 3


def test_no_text_is_no_prompt(tokenizer: BakedTokenizer) -> None:
    """The empty prompt leaves out nothing, not even the first special token."""
    assert prompt_length("", tokenizer) == 0


def test_stops_at_the_limit(tokenizer: BakedTokenizer) -> None:
    """A prompt that fills the window takes all of it but the last special token."""
    assert prompt_length("the water " * 40, tokenizer) == tokenizer.max_length - 1


def test_counts_the_last_token_where_it_is_not_special(tmp_path: Path) -> None:
    """A tokenizer that ends no text in a special token loses none."""
    write_tokenizer(tmp_path)
    change_json(tmp_path / "tokenizer.json", post_processor=None)
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    tokenizer = bake_tokenizer(ModelFolder.at(tmp_path))
    assert prompt_length("query: ", tokenizer) == 2
    assert prompt_length(" ", tokenizer) == 0


def test_counts_the_space_that_a_word_would_take(tmp_path: Path) -> None:
    """The prompt is counted alone, even where its last space joins the first word of a text."""
    write_tokenizer(tmp_path)
    words = Tokenizer(models.BPE({"a": 0, "Ġ": 1, "b": 2, "Ġb": 3}, merges=[("Ġ", "b")]))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.save(str(tmp_path / "tokenizer.json"))
    change_json(tmp_path / "tokenizer_config.json", pad_token="a")
    tokenizer = bake_tokenizer(ModelFolder.at(tmp_path))
    assert tokenizer.encode(["a b"]) == [[0, 3]]
    assert prompt_length("a ", tokenizer) == 2


def test_input_has_a_value_for_every_prompt(tokenizer: BakedTokenizer) -> None:
    """The contract says what to feed for each prompt, and without one."""
    found = prompt_length_input({"query": "query: ", "plain": ""}, tokenizer)
    assert (found.name, found.feed) == ("prompt_length", "prompt_value")
    assert found.values == {"": 0, "query": 3, "plain": 0}


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
        self_check(report.path)
        cases = read_head(report.path).fixture.cases
        vectors[name] = {
            case.prompt: decode_vectors(case.embeddings) for case in cases if case.prompt
        }
    inputs = report.manifest.contract.inputs
    assert inputs[-1].values == {"": 0, "query": 3, "passage": 4}
    assert vectors["with"].keys() == vectors["without"].keys() == prompts.keys()
    for prompt in prompts:
        assert abs(vectors["with"][prompt] - vectors["without"][prompt]).max() > 1e-3
