"""Golden cases of another maker show what is wrong with a file that agrees with itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from models.mutated import mutated_graph, mutated_tokens
from models.mutated.mutated import write_mutated
from polybake.base.modelfile.container import check_digest, read_head
from polybake.base.modelfile.fixture_folder import write_fixture
from polybake.verification.verify import verify
from support.clients.mutants import Mutant, read_mutants
from support.clients.rendered import write

MUTANTS = read_mutants("models")
CHANGES = vars(mutated_tokens) | vars(mutated_graph)

#: What a client's folder has besides what is generated, by language.
PACKAGES = {"python": ".venv", "node": "node_modules"}
MARKED = [
    pytest.param(
        language,
        marks=[
            getattr(pytest.mark, language),
            *([] if language == "python" else [pytest.mark.repetition]),
        ],
    )
    for language in PACKAGES
]


@pytest.fixture(scope="module")
def golden(every_byte: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden cases of the file that is right."""
    folder = tmp_path_factory.mktemp("golden")
    write_fixture(read_head(every_byte).fixture, folder)
    return folder


def write_mutant(mutant: Mutant, sound: Path, folder: Path) -> Path:
    return write_mutated(sound, folder / sound.name, CHANGES[mutant.change])


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_a_whole_file(mutant: Mutant, every_byte: Path, tmp_path: Path) -> None:
    """A mutant's digests and golden cases are its own, so only other golden cases reveal it."""
    head = read_head(write_mutant(mutant, every_byte, tmp_path))
    check_digest(head)
    assert head.fixture.fingerprint == head.manifest.fingerprint


@pytest.mark.mutants
@pytest.mark.usefixtures("own_sources")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
@pytest.mark.parametrize("language", MARKED)
def test_verify_says_what_is_wrong(
    language: str,
    mutant: Mutant,
    every_byte: Path,
    golden: Path,
    prepared: Callable[[str], Path],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """A mutant's own client fails by the golden cases, though its self-check mostly passes."""
    model = write_mutant(mutant, every_byte, tmp_path)
    client = write(language, tmp_path / "client", model)
    packages = PACKAGES[language]
    (client / packages).symlink_to(prepared(language) / packages)
    mutant.check(verify(model, client, fixture=golden), every_byte, record_property)
