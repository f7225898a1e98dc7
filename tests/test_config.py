"""polybake.toml: every fault is named by its key, its value and the choices."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.config import load_config
from polybake.errors import InputError

GOOD = """
[model]
name = "minilm"
source = "models/minilm"
output = "build/minilm.onnx"

[[steps]]
step = "pool"
mode = "mean"

[prompts]
query = "query: "

[fixtures]
texts = ["texts.txt"]

[clients.ruby]
module = "Minilm"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "polybake.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file(tmp_path: Path) -> None:
    """Paths are relative to the file, and only the named clients are made."""
    config = load_config(write(tmp_path, GOOD))
    assert config.model.source == tmp_path / "models/minilm"
    assert config.fixtures.texts == (tmp_path / "texts.txt",)
    assert config.fixtures_folder == tmp_path / "fixtures/minilm"
    assert config.steps == ({"step": "pool", "mode": "mean"},)
    assert list(config.clients) == ["ruby"]
    assert config.clients["ruby"].output == tmp_path / "clients/ruby"
    assert config.folder == tmp_path
    assert config.client_folders == [tmp_path / "clients/ruby"]
    assert config.golden_folder is None, "the model file's own cases until there is a folder"
    config.fixtures_folder.mkdir(parents=True)
    assert config.golden_folder == tmp_path / "fixtures/minilm"


def test_clients_are_made_where_the_file_says(tmp_path: Path) -> None:
    """Relative to the file; a file that names no client gets four languages."""
    text = GOOD.replace('module = "Minilm"', 'output = "gems/minilm"')
    assert load_config(write(tmp_path, text)).clients["ruby"].output == tmp_path / "gems/minilm"
    text = GOOD.split("[clients")[0]
    assert list(load_config(write(tmp_path, text)).clients) == ["python", "node", "ruby", "csharp"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "minilm"', 'name = "MiniLM"', "model.name: 'MiniLM' cannot become"),
        ('name = "minilm"', "", "model.name: is missing; add it"),
        ("output =", "outptu =", "(did you mean output?)"),
        ("[fixtures]", "[fixture]", "fixture: unknown key; choose one of: model, steps, prompts"),
        ('module = "Minilm"', 'modul = "M"', "clients.ruby.modul: unknown key; choose one of: ou"),
        (
            'query = "query: "',
            "query = 3",
            "prompts.query: Input should be a valid string, found 3",
        ),
        ("[[steps]]", 'encoder = "jax"\n[[steps]]', "'native' or 'torch', found 'jax'; correct"),
        ("[model]", f"x = {'[' * 5000}{']' * 5000}\n[model]", "is not TOML: maximum recursion"),
        ("[model]", f"x = {'1' * 5000}\n[model]", "is not TOML: Exceeds the limit"),
        ('"build/', '"a\\u0000b', "model.output: a path holds no NUL character, found "),
        ('["texts.txt"]', '["a\\u0000b"]', "fixtures.texts[0]: a path holds no NUL character"),
        ('module = "Minilm"', 'output = "a\\u0000b"', "clients.ruby.output: a path holds no NUL"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """The error gives the path of the key, the value, and what may stand there."""
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_config(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_message_with_its_remedy_gets_no_other(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace('"minilm"', '"Mini LM"', 1))
    with pytest.raises(InputError, match="expected at most 50 of a-z") as caught:
        load_config(path)
    assert "correct the value" not in str(caught.value)
    assert str(caught.value).count("'Mini LM'") == 1


def test_a_language_is_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace("[clients.ruby]", "[clients.rubi]"))
    with pytest.raises(InputError, match=r"unknown language; .*browser \(did you mean ruby\?\)"):
        load_config(path)


def test_what_a_file_may_hold(tmp_path: Path) -> None:
    """A byte order mark, which Windows' editors write, and a reference to the hub as it is."""
    text = GOOD.replace("models/minilm", "hub:owner/name@v1")
    model = load_config(write(tmp_path, f"\ufeff{text}")).model
    assert (model.name, str(model.source)) == ("minilm", "hub:owner/name@v1")
