"""Rendering: templates in, text by path out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest, parse_manifest
from polybake.errors import InputError
from polybake.generation import LANGUAGES, render_client
from polybake.generation.render import HEADER
from polybake.generation.write import changes
from support.clients.rendered import parts_of


@pytest.fixture(scope="session")
def manifest(every_feed: Path) -> Manifest:
    return read_head(every_feed).manifest


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_is_complete(manifest: Manifest, language: str) -> None:
    """Every language renders a package, a README, tests and a harness, and no placeholder."""
    client = render_client(manifest, language)
    assert {"README.md", "harness.json"} <= client.files.keys()
    assert client.project_files <= client.files.keys()
    assert any(re.search(r"(^|/)tests?/|_test\.", path) for path in client.files)
    for path, text in client.files.items():
        assert "__" not in Path(path).stem or path.endswith("__init__.py"), path
        assert "{%" not in text, path
        assert text.endswith("\n") or not text, path


@pytest.mark.parametrize("language", LANGUAGES)
def test_generated_files_say_so(manifest: Manifest, language: str) -> None:
    """Every source file says in its first lines where it comes from and whose it is."""
    client = render_client(manifest, language)
    sources = {".py", ".js", ".ts", ".rb", ".cs", ".java", ".go", ".rs"}
    for path, text in client.files.items():
        if Path(path).suffix in sources and path not in client.project_files:
            begun = " ".join(line.lstrip("/# ") for line in text.splitlines()[:2])
            assert begun.startswith(HEADER), path


def test_languages_share_binary_files(manifest: Manifest, repository: Path) -> None:
    """A file that is no text lies once among the templates, and in each client that has it."""
    client = render_client(manifest, "go")
    module = (repository / "templates/wasm/tokenizer.wasm").read_bytes()
    assert client.binaries == {"tokenizer.wasm": module}
    assert module.startswith(b"\0asm")
    assert not render_client(manifest, "python").binaries


def test_a_part_adds_whole_files(manifest: Manifest) -> None:
    """No file of the library's core is another beside it; an unknown part is named."""
    core = render_client(manifest, "python").files
    whole = render_client(manifest, "python", parts=parts_of("python")).files
    added = {path for path in whole if path not in core}
    library = "src/every_feed/"
    assert {path for path in added if path.startswith(library)} == {
        f"{library}bulk.py",
        f"{library}cuda.py",
    }
    assert all(whole[path] == core[path] for path in core if path.startswith(library))
    with pytest.raises(InputError, match="part 'spin': choose one of: bulk, cuda"):
        render_client(manifest, "python", parts=["spin"])
    with pytest.raises(InputError, match="java: has no part 'bulk'; leave it out"):
        render_client(manifest, "java", parts=["bulk"])


def test_a_user_s_template_takes_the_place(manifest: Manifest, tmp_path: Path) -> None:
    """A template below --templates replaces the shipped one of the same path, or is added."""
    (tmp_path / "python").mkdir()
    (tmp_path / "python/README.md.jinja").write_text("Mine: {{ package }}\n")
    (tmp_path / "python/docs").mkdir()
    (tmp_path / "python/docs/__module__.md").write_text("{{ as it is }}\n")
    client = render_client(manifest, "python", templates=tmp_path)
    assert client.files["README.md"] == "Mine: every-feed\n"
    assert client.files["docs/every_feed.md"] == "{{ as it is }}\n"
    assert "pyproject.toml" in client.files


@pytest.mark.parametrize("text", [b"{{ nothing }}", b"{% if %}", b"\xff"])
def test_a_wrong_template_is_named(manifest: Manifest, tmp_path: Path, text: bytes) -> None:
    """An unknown variable, a syntax error and what is no text name the template."""
    (tmp_path / "python").mkdir()
    (tmp_path / "python/README.md.jinja").write_bytes(text)
    with pytest.raises(InputError, match=r"template python/README\.md\.jinja: "):
        render_client(manifest, "python", templates=tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_committed_client_is_fresh(repository: Path, language: str) -> None:
    """clients/<language> is what the templates render for MiniLM today."""
    path = repository / "fixtures/all-minilm-l6-v2/manifest.json"
    manifest = parse_manifest(path.read_text(), str(path))
    client = render_client(manifest, language, parts=parts_of(language))
    folder = repository / "clients" / language
    found = changes(folder, client.files | client.binaries, frozenset())
    assert (found.written, found.removed) == ((), ())
