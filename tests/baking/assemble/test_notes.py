"""What init and bake say that nobody has set."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from models.files.task_models import write_labelled
from models.folders.tiny_folders import (
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from polybake.baking.assemble.notes import notes
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from polybake.cli.main import app

POOLING = ("Pooling", {"pooling_mode": "mean"})
NFKC = {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}]}
TYPES = ["input_ids", "token_type_ids", "attention_mask"]


def said(
    folder: Path,
    task: str | None = None,
    prompts: dict[str, str] | None = None,
    *,
    listed: bool = False,
) -> list[str]:
    source = open_source(folder)
    made = task_of(source, task)
    return list(notes(source, made, prompts, asked=task is not None, listed=listed))


def test_prompts_of_a_published_model(tmp_path: Path) -> None:
    """One line is shown where the user sets no prompts and the model's are missing or empty."""
    folder = write_sentence_transformers(tmp_path / "e5-small-v2", POOLING)
    settings = folder / "config_sentence_transformers.json"
    (line,) = said(folder)
    assert line.startswith("intfloat/e5-small-v2 was trained with prompts")
    assert 'query = "query: ", document = "passage: "; say them in [prompts]' in line
    assert said(folder, prompts={}) == []
    write_json(settings, {"prompts": {"query": "", "document": ""}})
    assert said(folder) == [line]
    write_json(settings, {"prompts": {"query": "query: "}})
    assert said(folder) == []
    for quiet in ("tiny", "GIST-Embedding-v0"):
        assert said(write_sentence_transformers(tmp_path / quiet, POOLING)) == []
    folder = write_sentence_transformers(tmp_path / "multilingual-e5-large-instruct", POOLING)
    (line,) = said(folder)
    assert 'answer the query\\nQuery: "; say them' in line
    assert line.endswith(" (the line before the query says the task: write yours)")


def test_one_label(tmp_path: Path) -> None:
    """A model that only its one label makes a reranker gets one line; a known one gets none."""
    folder = write_labelled(tmp_path / "e5-small-classifier", "quality")
    (line,) = said(folder)
    assert line.startswith(f"{folder} has one label and was taken for a reranker; if it labels")
    assert said(folder, "rerank") == said(folder, "classify") == []
    assert said(write_labelled(tmp_path / "bge-reranker-base", "LABEL_0")) == []
    activation = "torch.nn.modules.linear.Identity"
    change_json(folder / "config.json", sbert_ce_default_activation_function=activation)
    assert said(folder) == []


BGE = 'pool with mode = "cls", then normalize (https://github.com/FlagOpen/FlagEmbedding)'


def test_steps_of_a_published_model(tmp_path: Path) -> None:
    """The line says which model it is, by what, and where its steps are written."""
    folder = write_bert(tmp_path / "bge-m3")
    says = "the source names no steps; it is BAAI/bge-m3 by its name, and has that model's: "
    assert said(folder) == [says + BGE]
    assert said(folder, listed=True) == []
    folder = write_bert(tmp_path / "model")
    (folder / "README.md").write_text("---\nmodel-index:\n- name: bge-m3\n---\n")
    assert said(folder) == [says.replace("its name", "README.md") + BGE]
    pooling = ("Pooling", {"pooling_mode": "mean"})
    assert said(write_sentence_transformers(tmp_path / "saved" / "bge-m3", pooling)) == []


def test_steps_that_are_assumed(tmp_path: Path) -> None:
    """A model that config.json names is an origin: what it has is said, and is not taken."""
    folder = write_bert(tmp_path / "model")
    (line,) = said(folder)
    assert line.startswith("the source names no steps, and the mean of a text's tokens was assumed")
    assert line.endswith('if the model was trained with its first token, write mode = "cls"')
    change_json(folder / "config.json", _name_or_path="BAAI/bge-m3")
    (line,) = said(folder)
    assert line.startswith("the source names no steps, and the mean of a text's tokens was assumed")
    named = f"config.json names BAAI/bge-m3, whose steps are {BGE}"
    assert line.endswith(f"{named}: if yours was made from it, list them")
    assert said(folder, listed=True) == []


def test_other_ids_of_transformers_5(tmp_path: Path) -> None:
    """The part is named; the remedy keeps the types of pairs, and leaves nothing to say."""
    folder = write_labelled(tmp_path / "reranker", "LABEL_0")
    change_json(folder / "tokenizer.json", normalizer=NFKC)
    (line,) = said(folder)
    assert "BertTokenizer of transformers 5 makes its own normalizer and gives other ids" in line
    assert '"TokenizersBackend" and model_input_names = ["input_ids", "token_type_ids", ' in line
    (single,) = said(folder, "classify")
    assert single.endswith('"TokenizersBackend" in tokenizer_config.json')
    settings = {"tokenizer_class": "TokenizersBackend", "model_input_names": TYPES}
    change_json(folder / "tokenizer_config.json", **settings)
    assert said(folder) == []
    change_json(folder / "tokenizer_config.json", tokenizer_class="FooTokenizer")
    (line,) = said(folder, listed=True)
    assert "; whether FooTokenizer of transformers 5 gives the same ids is not known; to" in line


def test_albert_s_pairs(tmp_path: Path) -> None:
    """Their tokens had types in transformers 4; the key decides it."""
    folder = write_labelled(tmp_path / "reranker", "LABEL_0")
    settings = folder / "tokenizer_config.json"
    change_json(settings, tokenizer_class="AlbertTokenizer", unk_token="[UNK]")
    lines = [line for line in said(folder) if "the tokens of a pair have no types" in line]
    assert len(lines) == 1
    assert said(folder, "classify") == [one for one in said(folder) if one not in lines]
    change_json(settings, model_input_names=["input_ids", "attention_mask"])
    assert not any("the tokens of a pair have no types" in line for line in said(folder))


@pytest.mark.slow
def test_commands_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes go to standard error and stop once the user has set what they ask for."""
    write_bert(tmp_path / "bge-base-en")
    monkeypatch.chdir(tmp_path)

    def printed(*arguments: str) -> str:
        with contextlib.redirect_stderr(io.StringIO()) as stream:
            app([*arguments], standalone_mode=False)
        return stream.getvalue()

    known = "polybake: note: the source names no steps; it is BAAI/bge-base-en by its name"
    prompts = "polybake: note: BAAI/bge-base-en was trained with prompts"
    said_by_init = printed("init", "bge-base-en")
    assert known in said_by_init
    assert prompts in said_by_init
    said_by_bake = printed("bake")
    assert prompts in said_by_bake
    assert "names no steps" not in said_by_bake
    with (tmp_path / "polybake.toml").open("a") as file:
        file.write("[prompts]\n")
    assert "note:" not in printed("bake")
