"""Texts as messages of a chat; tests/oracle/test_messages.py compares their vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.causal import TRANSFORMER
from models.folders.messages import CHATML, POOLING, write_messages
from models.folders.tiny_folders import write_json, write_router
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.sources import open_source
from polybake.baking.sources.sentence_transformers.message_template import message_template
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

OWN = "<|im_start|>system\nYou embed.<|im_end|>\n<|im_start|>user\n"
WEB = "<|im_start|>system\nFind the pages.<|im_end|>\n<|im_start|>user\n"
PROMPTS = {"web": "Find the pages.", "query": ""}
ROUTER = "sentence_transformers.base.modules.router.Router"
PLAIN = "{% for one in messages %}[{{ one.role }}]{{ one.content }}{{ end }}{% endfor %}"


@pytest.mark.parametrize(
    ("roles", "system", "expected"),
    [
        (("user",), None, ("[user]", ".")),
        (("user",), "a", ("[system]a.[user]", ".")),
        (("query", "document"), None, ("[query]", ".[document]", ".")),
    ],
)
def test_roles_and_the_system(
    roles: tuple[str, ...], system: str | None, expected: tuple[str, ...], tmp_path: Path
) -> None:
    """Each text is a message of its own, behind the system's."""
    folder = ModelFolder.at(write_messages(tmp_path, PLAIN))
    assert message_template(folder, roles, system, "flat", {"end": "."}) == expected


@pytest.mark.parametrize(
    ("default", "prompts"),
    [
        (None, {"query": OWN, "document": OWN, "web": WEB, "message": OWN}),
        ("web", {"query": OWN, "document": OWN, "web": WEB}),
    ],
)
def test_a_prompt_is_what_stands_before_a_text(
    default: str | None, prompts: dict[str, str], tmp_path: Path
) -> None:
    """With the prompt as the system's message, or none; no call is without the default one."""
    source = open_source(
        write_messages(tmp_path, prompts=PROMPTS, default_prompt_name=default, include_prompt=False)
    )
    assert source.prompts == prompts
    assert source.default_prompt == (default or "message")
    assert source.recipe == ({"step": "pool", "mode": "mean"},)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (CHATML.replace("'<|im_end|>' +", ""), "shares tokens with the text before it"),
        ("{{ strftime_now('%Y') }}", "writes the day on which it is rendered"),
        ("{{ raise_exception('only users') }}", "cannot be rendered .ValueError: only users"),
        ("{% for one in messages %}{{ one.content }}", "cannot be rendered .TemplateSyntaxError"),
    ],
)
def test_other_templates_are_refused(template: str, message: str, tmp_path: Path) -> None:
    """By what they do to a text."""
    with pytest.raises(InputError, match=message):
        open_source(write_messages(tmp_path, template))


def test_a_router_behind_messages_is_refused(tmp_path: Path) -> None:
    """Its routes are tasks, which a template may read."""
    folder = write_messages(tmp_path)
    types = {"": TRANSFORMER, "1_Pooling": POOLING}
    routes = {"query": ["", "1_Pooling"], "document": [""]}
    write_router(folder, routes, types, default_route="document")
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": ROUTER}])
    with pytest.raises(InputError, match=r"modality_config\.message: Input should be null"):
        open_source(folder)


def test_prompts_of_the_source_are_taken_again(tmp_path: Path) -> None:
    """Those that ``init`` writes; others would replace the template."""
    source = open_source(write_messages(tmp_path))
    assert bake_prompts(source, (), dict(source.prompts), None).default == "message"
