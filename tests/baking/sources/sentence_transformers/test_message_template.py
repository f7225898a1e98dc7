"""What templates write around texts; test_logit_score.py and test_messages.py show refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.messages import CHATML, STRUCTURED, write_messages
from polybake.baking.sources.sentence_transformers.message_template import message_template
from polybake.base.files.model_folder import ModelFolder

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


@pytest.mark.parametrize("template", [CHATML, STRUCTURED])
def test_the_form_of_messages_is_found(template: str, tmp_path: Path) -> None:
    """By what the template reads."""
    before, behind = message_template(
        ModelFolder.at(write_messages(tmp_path, template)), ("user",), "a", "auto", {}
    )
    assert before == "<|im_start|>system\na<|im_end|>\n<|im_start|>user\n"
    assert behind == "<|im_end|>\n"
