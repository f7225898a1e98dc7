"""Embedders of messages; tests/oracle/test_messages.py compares their vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.causal import TRANSFORMER
from models.folders.messages import CHATML, POOLING, STRUCTURED, write_messages
from models.folders.tiny_folders import change_json, write_json, write_router
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.sources import open_source
from polybake.errors import InputError

OWN = "<|im_start|>system\nYou embed.<|im_end|>\n<|im_start|>user\n"
WEB = "<|im_start|>system\nFind the pages.<|im_end|>\n<|im_start|>user\n"
PROMPTS = {"web": "Find the pages.", "query": ""}
ROUTER = "sentence_transformers.base.modules.router.Router"
NORMALIZE = "sentence_transformers.sentence_transformer.modules.normalize.Normalize"
TASK = "{% if task == 'query' %}<|endoftext|>{% endif %}"


def test_a_prompt_is_what_stands_before_a_text(tmp_path: Path) -> None:
    """With the prompt as the system's message, or none; the library has two by itself."""
    source = open_source(write_messages(tmp_path, prompts=PROMPTS))
    assert source.prompts == {"query": OWN, "document": OWN, "web": WEB, "message": OWN}
    assert source.default_prompt == "message"


def test_a_default_prompt_stays_it(tmp_path: Path) -> None:
    """No call is without one then."""
    folder = write_messages(tmp_path, prompts=PROMPTS, default_prompt_name="web")
    source = open_source(folder)
    assert source.prompts == {"query": OWN, "document": OWN, "web": WEB}
    assert source.default_prompt == "web"


def test_special_tokens_are_what_stands_behind(tmp_path: Path) -> None:
    """And no others, as rendered texts are tokenised without."""
    tokenizer = open_source(write_messages(tmp_path)).tokenizer
    end, line = (tokenizer.id_of(one) for one in ("<|im_end|>", "\u010a"))
    (ids,) = tokenizer.encode(["a"])
    assert ids == [tokenizer.id_of("a"), end, line]
    assert tokenizer.special_tokens == (0, 2)


def test_structured_messages_and_variables(tmp_path: Path) -> None:
    """As the settings say."""
    folder = write_messages(tmp_path, STRUCTURED)
    how = {"method": "forward", "method_output_name": "last_hidden_state", "format": "structured"}
    change_json(
        folder / "sentence_bert_config.json",
        modality_config={"message": how},
        processing_kwargs={"chat_template": {"add_generation_prompt": True}},
    )
    source = open_source(folder)
    assert source.prompts["message"] == OWN
    behind = ["<|im_end|>", "\n", "<|im_start|>", *"assistant\n"]
    assert source.tokenizer.special_tokens == (0, len(behind))


def test_a_prompt_is_counted(tmp_path: Path) -> None:
    """Whatever the pooling says, as the library tracks no prompt's length in messages."""
    source = open_source(write_messages(tmp_path, include_prompt=False))
    assert source.recipe == ({"step": "pool", "mode": "mean"},)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (None, "has no chat template, and its settings say that texts go through one"),
        (CHATML.replace(".content", ".content | trim"), "changes texts such as ' ', which"),
        (CHATML + TASK, "reads task, which only encode_query and encode_doc"),
        (CHATML + "{{ messages | length }}", "'.*1' behind a text with .* '.*2' with another"),
        (CHATML.replace("'<|im_end|>' +", ""), "shares tokens with the text before it"),
        ("{{ strftime_now('%Y') }}", "writes the day on which it is rendered"),
    ],
)
def test_other_templates_are_refused(template: str | None, message: str, tmp_path: Path) -> None:
    """By what they do to a text."""
    prompts = {"short": "a", "long": "a long instruction"}
    with pytest.raises(InputError, match=message):
        open_source(write_messages(tmp_path, template, prompts=prompts))


def test_a_template_may_read_what_the_settings_say(tmp_path: Path) -> None:
    """The library then leaves the task alone."""
    folder = write_messages(tmp_path, CHATML + TASK)
    given = {"processing_kwargs": {"chat_template": {"task": "query"}}}
    change_json(folder / "sentence_bert_config.json", **given)
    assert open_source(folder).tokenizer.special_tokens == (0, 3)


def test_a_prompt_of_the_same_name(tmp_path: Path) -> None:
    """Calls that name none have none of the system's messages."""
    with pytest.raises(InputError, match="has a prompt 'message', and polybake gives this name"):
        open_source(write_messages(tmp_path, prompts={"message": "a"}))


def test_a_router_behind_messages_is_refused(tmp_path: Path) -> None:
    """Its routes are tasks, which a template may read."""
    folder = write_messages(tmp_path)
    types = {"": TRANSFORMER, "1_Pooling": POOLING, "2_Normalize": NORMALIZE}
    routes = {"query": ["", "1_Pooling"], "document": ["", "1_Pooling", "2_Normalize"]}
    write_router(folder, routes, types, default_route="document")
    router = {"idx": 0, "name": "0", "path": "", "type": ROUTER}
    write_json(folder / "modules.json", [router])
    with pytest.raises(InputError, match=r"modality_config\.message: Input should be null"):
        open_source(folder)


def test_own_prompts_are_refused(tmp_path: Path) -> None:
    """They would replace the template; those that ``init`` writes are the source's."""
    source = open_source(write_messages(tmp_path))
    assert bake_prompts(source, (), dict(source.prompts), None).default == "message"
    with pytest.raises(InputError, match="chat template writes them"):
        bake_prompts(source, (), {"query": "find: "}, None)
