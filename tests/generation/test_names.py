"""Names: one table, four spellings, and nothing that shadows a module."""

from __future__ import annotations

import pytest

from polybake.errors import InputError
from polybake.generation.names import Names, names_for


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("python", Names("all-minilm-l6-v2", "all_minilm_l6_v2")),
        ("node", Names("all-minilm-l6-v2", "all-minilm-l6-v2")),
        ("ruby", Names("all_minilm_l6_v2", "AllMinilmL6V2")),
        ("csharp", Names("AllMinilmL6V2", "AllMinilmL6V2")),
    ],
)
def test_each_language_spells_the_name_its_own_way(language: str, names: Names) -> None:
    """One model name becomes the package and module names that each language is used to."""
    assert names_for(language, "all-minilm-l6-v2") == names


@pytest.mark.parametrize("name", ["json", "test", "set", "data", "system", "numpy", "class", "os"])
def test_a_name_that_shadows_is_refused(name: str) -> None:
    """A model called like a standard module would break its own client."""
    with pytest.raises(InputError, match=f"choose a longer one, such as my-{name}"):
        names_for("python", name)


@pytest.mark.parametrize("name", ["sparse-embedder", "sparse-vector", "tagger", "answer", "bulk"])
def test_a_name_of_a_class_of_ours_is_refused(name: str) -> None:
    """C# and Ruby would have a namespace of the class's name."""
    with pytest.raises(InputError, match="would shadow"):
        names_for("ruby", name)


def test_the_user_may_choose() -> None:
    """Settings override what is derived."""
    chosen = names_for("csharp", "minilm", package="Acme.Search.MiniLM", module="Acme.Search")
    assert chosen == Names("Acme.Search.MiniLM", "Acme.Search")


@pytest.mark.parametrize(
    ("language", "key", "value"),
    [
        ("python", "module", "a-b"),
        ("python", "module", "json"),
        ("python", "package", "a b"),
        ("node", "package", "@/x"),
        ("node", "package", 'x", "scripts": {}'),
        ("ruby", "module", "lower"),
        ("ruby", "package", "../x"),
        ("csharp", "module", "A..B"),
        ("csharp", "package", "<x>"),
    ],
)
def test_a_chosen_name_must_be_one(language: str, key: str, value: str) -> None:
    """A name that the language cannot use is refused by the key it was given under."""
    with pytest.raises(InputError, match=rf"clients\.{language}\.{key}: "):
        names_for(language, "minilm", **{key: value})
