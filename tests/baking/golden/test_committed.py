from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polybake.baking.golden.texts import read_texts, user_cases
from polybake.base.modelfile.fixture import Fixture, decode_vectors
from polybake.base.modelfile.fixture_folder import read_fixture
from polybake.base.modelfile.manifest import Manifest


@pytest.fixture(scope="module")
def minilm_fixture(repository: Path) -> Fixture:
    return read_fixture(repository / "fixtures" / "all-minilm-l6-v2")


def committed_fixtures(repository: Path) -> list[Path]:
    folders = sorted(path.parent for path in (repository / "fixtures").glob("*/cases.json"))
    assert folders
    return folders


def test_every_committed_fixture_is_made_by_the_oracle(repository: Path) -> None:
    """What judges a bake is never made by a bake."""
    for folder in committed_fixtures(repository):
        made_by = read_fixture(folder).made_by
        assert made_by.kind == "oracle", folder
        assert {"sentence-transformers", "transformers", "torch"} <= made_by.packages.keys()


def test_every_committed_fixture_belongs_to_the_manifest_beside_it(repository: Path) -> None:
    """Fingerprint, dimension and length limit are those of the committed manifest."""
    for folder in committed_fixtures(repository):
        fixture = read_fixture(folder)
        manifest = Manifest.model_validate_json((folder / "manifest.json").read_text("ascii"))
        assert fixture.fingerprint == manifest.fingerprint
        for case in fixture.cases:
            assert case.embeddings.shape == (len(case.texts), manifest.contract.output.dimension)
            assert max(map(len, case.input_ids)) <= manifest.contract.max_length


def test_minilm_fixture_holds_every_committed_text(
    repository: Path, minilm_fixture: Fixture
) -> None:
    """The 200 texts are golden cases, beside the built-in ones."""
    texts = read_texts(sorted(repository.glob("fixtures/texts/*.txt")))
    assert [case.texts for case in minilm_fixture.cases if "user" in case.flags] == [
        case.texts for case in user_cases(texts)
    ]
    assert len([case for case in minilm_fixture.cases if "user" not in case.flags]) > 20
    assert sum(len(row) == 256 for case in minilm_fixture.cases for row in case.input_ids) >= 30


def test_minilm_vectors_have_unit_length(minilm_fixture: Fixture) -> None:
    """The committed vectors are finite and normalised, as MiniLM's last module makes them."""
    for case in minilm_fixture.cases:
        lengths = np.linalg.norm(decode_vectors(case.embeddings), axis=1)
        np.testing.assert_allclose(lengths, 1.0, atol=1e-6)
