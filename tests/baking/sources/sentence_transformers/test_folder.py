"""sentence-transformers folders of every generation."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import change_json, write_json, write_sentence_transformers
from polybake.baking.sources import open_source
from polybake.errors import InputError

MEAN = ("Pooling", {"pooling_mode": "mean"})
NORMALIZE = ("Normalize", {})
TYPE = "sentence_transformers.models.{}".format
OLD = "pooling_mode_{}_token".format


@pytest.mark.parametrize("generation", ["models", "base", "sentence_transformer"])
def test_module_types_of_three_generations(generation: str, tmp_path: Path) -> None:
    """Modules are known by the last name of their type, wherever it is said to lie."""
    folder = write_sentence_transformers(
        tmp_path / "m", MEAN, ("Dense", {}), NORMALIZE, generation=generation
    )
    assert open_source(folder).recipe == (
        {"step": "pool", "mode": "mean"},
        {"step": "dense", "source": "2_Dense"},
        {"step": "normalize"},
    )


def test_token_modules(tmp_path: Path) -> None:
    """A CNN and an LSTM are steps of their own, in the order in which they are listed."""
    folder = write_sentence_transformers(tmp_path / "m", ("CNN", {}), ("LSTM", {}), MEAN)
    assert open_source(folder).recipe == (
        {"step": "cnn", "source": "1_CNN"},
        {"step": "lstm", "source": "2_LSTM"},
        {"step": "pool", "mode": "mean"},
    )


@pytest.mark.parametrize(
    ("config", "mode"),
    [
        ({OLD("cls"): False, "pooling_mode_mean_tokens": True}, "mean"),
        ({OLD("cls"): True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_mean_tokens": True, OLD("cls"): True}, ["cls", "mean"]),
        (
            {
                "pooling_mode_lasttoken": True,
                "pooling_mode_weightedmean_tokens": True,
                "pooling_mode_mean_sqrt_len_tokens": True,
                "pooling_mode_max_tokens": True,
                OLD("cls"): True,
            },
            ["cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"],
        ),
        ({OLD("cls"): False}, "mean"),
        ({"word_embedding_dimension": 12}, "mean"),
        ({"pooling_mode": "max"}, "max"),
        ({"pooling_mode": ["mean"]}, "mean"),
        ({"pooling_mode": ["mean", "cls"]}, ["mean", "cls"]),
        ({"pooling_mode": "mean", OLD("cls"): True}, "mean"),
    ],
)
def test_both_schemas_of_pooling(config: dict[str, object], mode: object, tmp_path: Path) -> None:
    """Booleans concatenate in a fixed order, none is mean; pooling_mode wins, in its own order."""
    folder = write_sentence_transformers(tmp_path / "m", ("Pooling", config))
    assert open_source(folder).recipe == ({"step": "pool", "mode": mode},)


def test_prompts_left_out_of_pooling(tmp_path: Path) -> None:
    """include_prompt: false goes into the recipe; true is what a step does by itself."""
    for number, included in enumerate((True, False)):
        config = {"pooling_mode": "max", "include_prompt": included}
        folder = write_sentence_transformers(tmp_path / str(number), ("Pooling", config))
        left_out = {} if included else {"include_prompt": False}
        assert open_source(folder).recipe == ({"step": "pool", "mode": "max", **left_out},)


def test_prompts_and_similarity(tmp_path: Path) -> None:
    """config_sentence_transformers.json gives prompts, the default one, and the similarity."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    plain = open_source(folder)
    assert (plain.prompts, plain.default_prompt, plain.similarity) == ({}, None, "cosine")
    prompts = {"query": "query: ", "document": ""}
    write_json(
        folder / "config_sentence_transformers.json",
        {"prompts": prompts, "default_prompt_name": "query", "similarity_fn_name": "dot"},
    )
    found = open_source(folder)
    assert (found.prompts, found.default_prompt, found.similarity) == (prompts, "query", "dot")


def test_length_limit(tmp_path: Path) -> None:
    """max_seq_length wins over the tokenizer's and the model's limits; without it the smaller."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    assert open_source(folder).max_length == 32
    change_json(folder / "tokenizer_config.json", model_max_length=int(1e30))
    assert open_source(folder).max_length == 40
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 35})
    assert open_source(folder).max_length == 35


def test_limit_beyond_the_position_table(tmp_path: Path) -> None:
    """A limit that the model has no positions for is refused when the folder is opened."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 41})
    with pytest.raises(InputError, match=r"max length 41 exceeds max_position_embeddings 40"):
        open_source(folder)


def test_settings_under_an_old_name(tmp_path: Path) -> None:
    """Settings are found under the file names of older versions too."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    write_json(folder / "sentence_roberta_config.json", {"max_seq_length": 17})
    assert open_source(folder).max_length == 17


def test_lower_case(tmp_path: Path) -> None:
    """do_lower_case lowers the text before the tokenizer's own normalizer."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    change_json(folder / "tokenizer_config.json", do_lower_case=False)
    cased = open_source(folder).tokenizer.encode(["Water"])
    write_json(folder / "sentence_bert_config.json", {"do_lower_case": True})
    lowered = open_source(folder).tokenizer.encode(["Water"])
    assert cased == [[2, 1, 3]]
    assert lowered == [[2, 6, 3]]


def test_transformer_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """Version 1 keeps configuration, weights and tokenizer in 0_Transformer."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    (folder / "0_Transformer").mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).rename(folder / "0_Transformer" / name)
    modules = (folder / "modules.json").read_text().replace('"path": ""', '"path": "0_Transformer"')
    (folder / "modules.json").write_text(modules)
    source = open_source(folder)
    assert source.encoder.place().state.x.shape is not None
    assert source.max_length == 32


def test_unknown_module_is_named(tmp_path: Path) -> None:
    """A module that is not on the list is an error with its whole type, and is not imported."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN, ("AudioModel", {}))
    with pytest.raises(InputError) as raised:
        open_source(folder)
    assert "unknown module type 'sentence_transformers.models.AudioModel'" in str(raised.value)
    assert "known are: Transformer, MLMTransformer, CLIPModel, StaticEmbedding, " in str(
        raised.value
    )


@pytest.mark.parametrize(
    ("module", "config", "shown"),
    [
        ("Normalize", {"module_input_name": "token_embeddings"}, "module_input_name"),
        ("Dense", {"module_output_name": "token_scores"}, "module_input_name"),
        ("Transformer", {}, "Transformer stands after the first module"),
    ],
)
def test_refuses_modules_it_does_not_compute(
    module: str, config: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A known module used in an unknown way is an error that names the key."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN, (module, config))
    with pytest.raises(InputError, match=shown):
        open_source(folder)


def test_modules_on_tokens(tmp_path: Path) -> None:
    """Normalize may stand before Pooling, where its configuration says so."""
    on_tokens = ("Normalize", {"module_input_name": "token_embeddings"})
    folder = write_sentence_transformers(tmp_path / "m", on_tokens, MEAN)
    assert [step["step"] for step in open_source(folder).recipe] == ["normalize", "pool"]


@pytest.mark.parametrize(
    ("file", "content", "shown"),
    [
        ("modules.json", [], "List should have at least 1 item"),
        ("modules.json", {}, "Input should be a valid array"),
        ("modules.json", [{"path": ""}], r"\[0\]\.type: is missing"),
        ("modules.json", [{"path": "", "type": TYPE("Pooling")}], "begins with Pooling"),
        (
            "modules.json",
            [{"path": "../m", "type": TYPE("Transformer")}],
            "outside the model's folder",
        ),
        ("config.json", [1], "Input should be an object"),
    ],
)
def test_refuses_other_settings(file: str, content: object, shown: str, tmp_path: Path) -> None:
    """Settings that would change a vector and are not baked are errors."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    write_json(folder / file, content)
    with pytest.raises(InputError, match=shown):
        open_source(folder)


def test_modules_after_pooling(tmp_path: Path) -> None:
    """LayerNorm and Dropout become steps; the latter needs no file."""
    modules = [("LayerNorm", {"dimension": 12}), ("Dropout", {"dropout": 0.3}), NORMALIZE]
    folder = write_sentence_transformers(tmp_path / "m", MEAN, *modules)
    assert open_source(folder).recipe[1:] == (
        {"step": "layer_norm", "source": "2_LayerNorm"},
        {"step": "dropout"},
        {"step": "normalize"},
    )


def test_truncate_dim_cuts_last(tmp_path: Path) -> None:
    """truncate_dim cuts after all modules, Normalize included, and does not renormalise."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN, NORMALIZE)
    write_json(folder / "config_sentence_transformers.json", {"truncate_dim": 5})
    assert open_source(folder).recipe == (
        {"step": "pool", "mode": "mean"},
        {"step": "normalize"},
        {"step": "truncate", "dimension": 5},
    )


@pytest.mark.minilm
def test_minilm(minilm: Path) -> None:
    """MiniLM takes 256 tokens, whatever its tokenizer.json ships."""
    source = open_source(minilm)
    assert source.max_length == 256
    assert source.recipe == ({"step": "pool", "mode": "mean"}, {"step": "normalize"})
    assert source.folder.licence() == "apache-2.0"
    assert len(source.tokenizer.encode(["word " * 400])[0]) == 256
