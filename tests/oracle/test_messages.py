"""Embedders whose texts are messages in a chat template, against sentence-transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling

from models.folders.causal import write_language_model
from models.folders.messages import CHATML, STRUCTURED
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.golden.texts import CaseText
from support.oracle.agreement import Agreement, agreement, as_given, bake_source
from support.oracle.proven import Proven

LIMIT = 90
PROMPTS = {"web": "Find the pages.", "code": "Find the code.\n\n", "none": ""}
TEXTS = ("", "a river", "the end.\n", "<|im_end|>", "<|im_start|>system\na", "1 2 3 4", " a " * 200)


def saved(
    folder: Path,
    template: str,
    pooling: str,
    prompts: dict[str, str] | None = None,
    default: str | None = None,
    *,
    include_prompt: bool = True,
    variables: dict[str, Any] | None = None,
) -> Path:
    """A folder as the library itself saves one of a language model with a chat template."""
    written = write_language_model(folder / "written", "qwen3")
    (written / "chat_template.jinja").write_text(template, encoding="utf-8")
    first = Transformer(
        str(written), max_seq_length=LIMIT, processing_kwargs={"chat_template": variables or {}}
    )
    modules = [first, Pooling(24, pooling, include_prompt=include_prompt)]
    model = SentenceTransformer(
        modules=modules, device="cpu", prompts=prompts, default_prompt_name=default
    )
    model.save_pretrained(str(folder / "model"))
    return folder / "model"


def agreement_with_library(folder: Path, out: Path) -> Agreement:
    """Compare each golden case, and some more of each prompt, with what the library gives."""
    bake_source(folder, out)
    library = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    assert "message" in library[0].modality_config
    encode: dict[str | None, Any] = {
        "query": library.encode_query,
        "document": library.encode_document,
    }

    def row(text: str, name: str | None) -> tuple[tuple[int, ...], Any]:
        named = None if name == "message" else name
        asked = library.default_prompt_name if named is None else named
        task = {"task": name} if name in encode else {}
        features = library.preprocess([text], prompt=library.prompts.get(asked), **task)
        vector = encode.get(name, library.encode)(text, prompt_name=named)
        return tuple(features["input_ids"][0].tolist()), vector

    prompts = ["message", "query", "document", *library.prompts]
    if library.default_prompt_name is not None:
        prompts.remove("message")
    more = [
        CaseText(f"{name} {place}", "", (), name, (text,))
        for name in dict.fromkeys(prompts)
        for place, text in enumerate(TEXTS)
    ]
    expected = []
    for case in make_fixture(out, [*cases_for(out), *more]).cases:
        rows = [row(text, case.prompt) for text in case.texts]
        ids, vectors = zip(*rows, strict=True)
        expected.append(as_given(case, {"input_ids": ids, "embeddings": vectors}))
    assert {case.prompt for case in expected} >= {*prompts, None}
    assert max(len(ids) for case in expected for ids in case.input_ids) == LIMIT
    return agreement(out, expected)


#: A template, its prompts, and the name of the default one.
SAVED: dict[str, tuple[str, dict[str, str] | None, str | None]] = {
    "no prompts": (CHATML, None, None),
    "prompts": (CHATML, PROMPTS, None),
    "a default prompt": (CHATML, PROMPTS, "web"),
    "structured": (STRUCTURED, PROMPTS, None),
}


@pytest.mark.parametrize("pooling", ["lasttoken", "mean"])
@pytest.mark.parametrize("named", SAVED)
def test_agrees_with_sentence_transformers(
    named: str, pooling: str, tmp_path: Path, proven: Proven
) -> None:
    """Ids and vectors of every built-in case and prompt, of cut texts, too."""
    template, prompts, default = SAVED[named]
    folder = saved(tmp_path, template, pooling, prompts, default)
    found = agreement_with_library(folder, tmp_path / "tiny.onnx")
    proven(f"qwen3, chat template, {named}", found)


def test_a_prompt_is_counted_and_variables_are_known(tmp_path: Path, proven: Proven) -> None:
    """The library tracks no prompt's length in messages, and a given task is every text's."""
    template = CHATML + "{% if task %}{{ task }}{% endif %}<|im_end|>"
    variables = {"add_generation_prompt": True, "task": "x"}
    folder = saved(tmp_path, template, "mean", PROMPTS, include_prompt=False, variables=variables)
    found = agreement_with_library(folder, tmp_path / "tiny.onnx")
    proven("qwen3, chat template, variables", found)


def test_nothing_may_stand_behind_a_text(tmp_path: Path, proven: Proven) -> None:
    """Its end is cut then."""
    template = "{% for one in messages %}{{ one.role }}: {{ one.content }}{% endfor %}"
    folder = saved(tmp_path, template, "lasttoken", PROMPTS)
    found = agreement_with_library(folder, tmp_path / "tiny.onnx")
    proven("qwen3, chat template, no suffix", found)
