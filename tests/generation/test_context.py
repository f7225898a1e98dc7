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


TASK = {
    "client": "Embedder",
    "stream": "vectors",
    "gives": "Embeddings",
    "note": "{embed_query} of `{}`",
}


def context_of(manifest: Manifest, language: str):
    names = names_for(language, manifest.name)
    return build_context(manifest, LANGUAGES[language], names, "0.1.0", TASK)


def with_contract(manifest: Manifest, **changes: object) -> Manifest:
    contract = manifest.contract.model_copy(update=changes)
    return manifest.model_copy(update={"contract": contract})


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


@pytest.mark.parametrize(("packed_bits", "dimensions"), [(False, 7), (True, 56)])
def test_a_packed_element_has_eight_dimensions(
    manifest: Manifest, packed_bits: bool, dimensions: int
) -> None:
    """The elements are those of the output."""
    changes = {"dtype": "int8", "packed_bits": packed_bits}
    output = manifest.contract.output.model_copy(update=changes)
    made = context_of(with_contract(manifest, output=output), "ruby")
    assert (made.dimension, made.dimensions) == (7, dimensions)


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("python", "`embed_query` of `{}`"),
        ("browser", "`embedQuery` of `{}`"),
        ("go", "`EmbedQuery` of `{}`"),
    ],
)
def test_each_language_spells_methods(manifest: Manifest, language: str, note: str) -> None:
    """Braces of a task's note that name none stay as they are."""
    assert context_of(manifest, language).note == note
