"""The committed texts and the golden cases of MiniLM, on which languages and oracle agree."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from polybake.baking.golden.texts import read_texts, user_cases
from polybake.base.modelfile.fixture import Fixture, decode_vectors
from polybake.base.modelfile.fixture_folder import read_fixture
from polybake.base.modelfile.manifest import Manifest
from polybake.errors import InputError


@pytest.fixture(scope="module")
def minilm_fixture(repository: Path) -> Fixture:
    return read_fixture(repository / "fixtures" / "all-minilm-l6-v2")


@pytest.fixture(scope="module")
def texts(repository: Path) -> list[str]:
    return read_texts(sorted(repository.glob("fixtures/texts/*.txt")))


def test_every_committed_fixture_is_the_oracles_and_of_its_manifest(repository: Path) -> None:
    """What judges a bake is never made by a bake, and belongs to what was baked."""
    folders = sorted(path.parent for path in (repository / "fixtures").glob("*/cases.json"))
    assert folders
    for folder in folders:
        fixture = read_fixture(folder)
        assert fixture.made_by.kind == "oracle", folder
        assert {"sentence-transformers", "transformers", "torch"} <= fixture.made_by.packages.keys()
        manifest = Manifest.model_validate_json((folder / "manifest.json").read_text("ascii"))
        assert fixture.fingerprint == manifest.fingerprint
        for case in fixture.cases:
            assert case.embeddings.shape == (len(case.texts), manifest.contract.output.dimension)
            assert max(map(len, case.input_ids)) <= manifest.contract.max_length


def test_minilm_fixture_holds_every_committed_text(
    texts: list[str], minilm_fixture: Fixture
) -> None:
    """The 200 texts are golden cases, beside the built-in ones; many fill the window."""
    cases = minilm_fixture.cases
    assert [case.texts for case in cases if "user" in case.flags] == [
        case.texts for case in user_cases(texts)
    ]
    assert len([case for case in cases if "user" not in case.flags]) > 20
    assert sum(len(row) == 256 for case in cases for row in case.input_ids) >= 30


def test_minilm_vectors_have_unit_length(minilm_fixture: Fixture) -> None:
    """The committed vectors are finite and normalised, as MiniLM's last module makes them."""
    for case in minilm_fixture.cases:
        lengths = np.linalg.norm(decode_vectors(case.embeddings), axis=1)
        np.testing.assert_allclose(lengths, 1.0, atol=1e-6)


def test_there_are_200_texts_of_many_scripts(texts: list[str]) -> None:
    """Each once, none blank or padded; twelve scripts are that of three texts or more."""
    assert len(texts) == len(set(texts)) == 200
    assert all(text and text == text.strip() and "\r" not in text for text in texts)
    scripts: Counter[str] = Counter()
    for text in texts:
        letters = [unicodedata.name(letter).split()[0] for letter in text if letter.isalpha()]
        scripts.update([Counter(letters).most_common(1)[0][0]])
    assert len([script for script, count in scripts.items() if count >= 3]) >= 12, scripts


def test_texts_are_read_a_line_each(tmp_path: Path) -> None:
    """Files come in the given order; a line separator inside a line splits nothing."""
    (tmp_path / "b.txt").write_text("third\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("first\n\nsecond\u2028still\n", encoding="utf-8")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert read_texts(files) == ["first", "second\u2028still", "third"]


def test_a_text_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are errors with the remedy."""
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    for name in ("latin.txt", "none.txt"):
        with pytest.raises(InputError, match="give a UTF-8 file with one text a line"):
            read_texts([tmp_path / name])
