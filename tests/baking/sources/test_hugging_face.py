"""A plain Hugging Face folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import change_json, write_bert, write_json
from polybake.baking.sources import open_source
from polybake.errors import InputError

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


@pytest.mark.parametrize(
    "name", ["tokenizer_config.json", "chat_template.jinja", "additional_chat_templates/rag.jinja"]
)
def test_refuses_chat_templates(name: str, tmp_path: Path) -> None:
    """A template that every text would be rendered through is refused, wherever it stands."""
    folder = write_bert(tmp_path / "m")
    if name.endswith(".json"):
        change_json(folder / name, chat_template=TEMPLATE)
    else:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(TEMPLATE)
    with pytest.raises(InputError, match=rf"has .*{name if 'jinja' in name else 'chat_template'}"):
        open_source(folder)


def test_other_chat_templates_are_not_read(tmp_path: Path) -> None:
    """chat_template.json belongs to processors of images, and null is no template."""
    folder = write_bert(tmp_path / "m")
    write_json(folder / "chat_template.json", {"chat_template": TEMPLATE})
    settings = (folder / "tokenizer_config.json").read_text()
    (folder / "tokenizer_config.json").write_text(settings[:-1] + ', "chat_template": null}')
    assert open_source(folder).max_length == 32
