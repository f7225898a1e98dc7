"""The context: every name and literal is decided before a template sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest
from polybake.generation import LANGUAGES
from polybake.generation.context import build_context
from polybake.generation.names import names_for


@pytest.fixture(scope="session")
def manifest(every_feed: Path) -> Manifest:
    return read_head(every_feed).manifest


def context_of(manifest: Manifest, language: str):
    names = names_for(language, manifest.name)
    return build_context(manifest, LANGUAGES[language], names, "0.1.0")


def with_contract(manifest: Manifest, **changes: object) -> Manifest:
    contract = manifest.contract.model_copy(update=changes)
    return manifest.model_copy(update={"contract": contract})


def test_literals_are_the_language_s_own(manifest: Manifest) -> None:
    """Absent values are spelled as the language spells them, and texts as it quotes them."""
    none = with_contract(manifest, prompts={})
    assert {name: context_of(none, name).query_prompt for name in LANGUAGES} == {
        "python": "None",
        "node": "null",
        "ruby": "nil",
        "csharp": "null",
        "java": "null",
        "go": '""',
        "rust": "None",
        "browser": "null",
    }
    assert context_of(manifest, "ruby").query_prompt == '"query"'


@pytest.mark.parametrize(
    ("dimension", "counts", "max_length", "expected"),
    [
        (7, None, 16, 8192),
        (4096, None, 16, 4096),
        (128, "counts", 512, 256),
        (9, "c", 2**31 - 1, 1),
    ],
)
def test_a_window_has_room(
    manifest: Manifest, dimension: int, counts: str | None, max_length: int, expected: int
) -> None:
    """At most 8,192 texts, fewer where their results are large."""
    changes = {"dimension": dimension, "counts": counts}
    output = manifest.contract.output.model_copy(update=changes)
    made = with_contract(manifest, output=output, max_length=max_length)
    assert context_of(made, "python").window == expected


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        ({"corpus": "c", "passage": "p", "document": "d"}, '"document"'),
        ({"corpus": "c", "passage": "p"}, '"passage"'),
        ({"corpus": "c"}, '"corpus"'),
        ({"other": "o"}, "None"),
    ],
)
def test_the_document_prompt(manifest: Manifest, prompts: dict[str, str], expected: str) -> None:
    """embed_documents uses document, passage or corpus, in this order."""
    made = context_of(with_contract(manifest, prompts=prompts), "python")
    assert made.document_prompt == expected


def test_the_names_of_prompts(manifest: Manifest) -> None:
    """They stand in the manifest's order in one literal."""
    made = with_contract(manifest, prompts={"query": "q", "a": "p"})
    assert context_of(made, "go").prompt_names == '"query, a"'
    assert context_of(with_contract(manifest, prompts={}), "go").prompt_names == ""


def test_a_hostile_licence_is_left_out(manifest: Manifest) -> None:
    """A licence that is no identifier never reaches a project file."""
    source = manifest.source.model_copy(update={"licence": 'mit", "scripts": {"x": "y'})
    made = context_of(manifest.model_copy(update={"source": source}), "node")
    assert made.licence == ""


def test_a_description_becomes_one_line(manifest: Manifest) -> None:
    """Line breaks in a description cannot open a new line of a project file."""
    text = 'two\nlines "quoted"'
    made = context_of(manifest.model_copy(update={"description": text}), "node")
    assert made.description == '"two lines \\"quoted\\""'


@pytest.mark.parametrize("packed_bits", [False, True])
def test_an_element_has_the_language_s_own_type(manifest: Manifest, packed_bits: bool) -> None:
    """Integers are what the language calls them, and a packed one counts as eight dimensions."""
    changes = {"dtype": "int8", "packed_bits": packed_bits}
    output = manifest.contract.output.model_copy(update=changes)
    found = {name: context_of(with_contract(manifest, output=output), name) for name in LANGUAGES}
    assert {name: made.element for name, made in found.items()} == {
        "python": "int8",
        "node": "Int8Array",
        "ruby": "Integer",
        "csharp": "sbyte",
        "java": "byte",
        "go": "int8",
        "rust": "i8",
        "browser": "Int8Array",
    }
    sizes = (found["ruby"].dimension, found["ruby"].dimensions)
    assert sizes == ((7, 56) if packed_bits else (7, 7))
