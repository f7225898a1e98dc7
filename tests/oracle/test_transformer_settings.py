"""sentence_bert_config.json and chat templates, against sentence-transformers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sentence_transformers import SentenceTransformer

from models.folders.tiny_folders import (
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.sources import open_source
from polybake.errors import InputError
from support.oracle.agreement import agreement, agreement_with_folder, as_given, bake_source
from support.oracle.proven import Judged

TEMPLATE = "{% for message in messages %}query {{ message['content'] }}{% endfor %}"
OLD = {"max_seq_length": 20, "do_lower_case": False}
TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}
NEW = {"modality_config": {"text": TEXT}, "module_output_name": "token_embeddings"}


def add_template(folder: Path, name: str) -> None:
    if name == "tokenizer_config.json":
        change_json(folder / name, chat_template=TEMPLATE)
    elif name.endswith(".json"):
        write_json(folder / name, {"chat_template": TEMPLATE})
    else:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(TEMPLATE)


def renders(folder: Path) -> bool:
    """Whether the library renders texts through a template before they become ids."""
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return "message" in model[0].modality_config


@pytest.mark.parametrize(
    "name", ["tokenizer_config.json", "chat_template.jinja", "additional_chat_templates/rag.jinja"]
)
def test_refuses_where_the_library_renders(name: str, tmp_path: Path) -> None:
    """A folder without modules.json, and what it is saved as where the library ends cut texts."""
    folder = write_bert(tmp_path / "m")
    add_template(folder, name)
    saved = tmp_path / "saved"
    SentenceTransformer(str(folder), device="cpu", local_files_only=True).save(str(saved))
    lacks = "has no chat template" if "rag" in name else "one token for the ends of 0 and 4"
    for each, shown in ((folder, "chat_template"), (saved, lacks)):
        assert renders(each)
        with pytest.raises(InputError, match=shown):
            open_source(each)


def test_unknown_digits_end_cut_texts(tmp_path: Path) -> None:
    """The library writes what its fillers end with over a text's last token: no digit is known."""
    folder = write_bert(tmp_path / "m")
    add_template(folder, "chat_template.jinja")
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    short, cut = (model.preprocess(["a " * count])["input_ids"][0] for count in (3, 99))
    assert (short[-1] == model.tokenizer.unk_token_id, len(cut)) == (False, 32)
    assert cut[-1] == model.tokenizer.unk_token_id


def test_a_template_of_other_processors(tmp_path: Path, judged: Judged) -> None:
    """chat_template.json belongs to other processors and is not read for a tokenizer."""
    folder = write_bert(tmp_path / "m")
    add_template(folder, "chat_template.json")
    assert not renders(folder)
    judged(agreement_with_folder(folder, tmp_path / "tiny.onnx"))


@pytest.mark.parametrize("name", ["tokenizer_config.json", "chat_template.jinja"])
@pytest.mark.parametrize("settings", [{}, OLD, NEW], ids=["none", "old", "new"])
def test_templates_that_the_library_leaves_alone(
    name: str, settings: dict[str, object], tmp_path: Path, judged: Judged
) -> None:
    """With modules.json only a modality_config with messages renders texts."""
    pooling = ("Pooling", {"embedding_dimension": 12, "pooling_mode": "mean"})
    folder = write_sentence_transformers(tmp_path / "m", pooling)
    add_template(folder, name)
    write_json(folder / "sentence_bert_config.json", settings)
    assert not renders(folder)
    judged(agreement_with_folder(folder, tmp_path / "tiny.onnx"))


def test_settings_that_change_nothing(tmp_path: Path, judged: Judged) -> None:
    """What is let through without being computed leaves the library's vectors as they are."""
    pooling = ("Pooling", {"embedding_dimension": 12, "pooling_mode": "mean"})
    folder = write_sentence_transformers(tmp_path / "m", pooling)
    settings: dict[str, object] = {
        **NEW,
        "processing_kwargs": {
            "text": {"padding": "longest", "truncation": True, "add_special_tokens": True},
            "image": {"size": 4},
            "chat_template": {"add_generation_prompt": True},
        },
        "model_args": {"attn_implementation": "eager", "trust_remote_code": True},
        "tokenizer_args": {"use_fast": True},
        "config_args": {"use_cache": True},
        "unpad_inputs": False,
        "max_seq_length": None,
        "do_lower_case": None,
    }
    for key in ("model_args", "model_kwargs"):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        (tmp_path / "out").mkdir()
        passed = {"add_pooling_layer": False, "low_cpu_mem_usage": True, "dtype": "bfloat16"}
        write_json(folder / "sentence_bert_config.json", {**settings, key: passed})
        judged(agreement_with_folder(folder, tmp_path / "out" / "tiny.onnx"))


def test_limits_of_queries_and_documents(tmp_path: Path, judged: Judged) -> None:
    """encode_query and encode_document have limits of their own, encode the usual one."""
    pooling = ("Pooling", {"embedding_dimension": 12, "pooling_mode": "mean"})
    folder = write_sentence_transformers(tmp_path / "m", pooling)
    write_json(folder / "config_sentence_transformers.json", {"prompts": {"query": "the river: "}})
    lengths = {"max_seq_length": 14, "query_length": 8, "document_length": 26}
    write_json(folder / "sentence_bert_config.json", lengths)
    out = bake_source(folder, tmp_path / "tiny.onnx")
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    usual = model.encode
    encode = {None: usual, "text": usual, "query": model.encode_query}
    encode["document"] = model.encode_document
    cases = make_fixture(out, cases_for(out)).cases
    assert {case.prompt for case in cases} == {*encode}
    expected = [
        as_given(case, {"embeddings": [encode[case.prompt](text) for text in case.texts]})
        for case in cases
    ]
    assert max(len(ids) for case in cases for ids in case.input_ids) == 26
    judged(agreement(out, expected))
