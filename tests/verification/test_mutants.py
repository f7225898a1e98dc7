"""Verify names the faults of real clients that are wrong, and finds none in harmless changes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from polybake.generation.languages import LANGUAGES
from polybake.verification.verdict import Stage
from polybake.verification.verify import verify
from support.clients.dotnet import build, write_solution
from support.clients.java import compiled
from support.clients.mutants import Mutant, mutants_of, mutations, read_mutants, row
from support.clients.rendered import has_streams, rebuild, write

MUTANTS = read_mutants("clients")


def marked() -> list[ParameterSet]:
    """Each mutant in each language; beyond Python and one other by turns it is a repetition."""
    others = [language for language in LANGUAGES if language != "python"]
    places = {mutant.id: number for number, mutant in enumerate(MUTANTS)}
    pairs = []
    for language in LANGUAGES:
        for mutant in mutants_of(language):
            marks = [getattr(pytest.mark, language)]
            if language not in ("python", others[places[mutant.id] % len(others)]):
                marks.append(pytest.mark.repetition)
            name = f"{language}-{mutant.id}"
            pairs.append(pytest.param(language, mutant, marks=marks, id=name))
    return pairs


#: .NET's invariant mode.
WITHOUT_ICU = os.environ.get("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT") == "1"

#: Where the C# client's library is built, and where its harness has it.
BUILT = "src/bin/Release/net10.0/EveryByte.dll"
USED = "harness/bin/Release/net10.0/EveryByte.dll"


@pytest.fixture(scope="module")
def libraries(
    every_byte: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Path]:
    """The C# client's library of each chosen mutant: one build, since each would take a minute."""
    folder = tmp_path_factory.mktemp("libraries")
    names = {item.name for item in request.session.items}
    test = test_verify_says_what_is_wrong.__name__
    chosen = [one for one in mutations("csharp").values() if f"{test}[csharp-{one.id}]" in names]
    clients = {}
    for number, fault in enumerate(chosen):
        clients[fault.id] = write("csharp", folder / str(number), every_byte)
        fault.plant(clients[fault.id])
    projects = {client.name: list(client.glob("src/*.csproj")) for client in clients.values()}
    # Analyzers would refuse some of the changed lines.
    build(write_solution(folder, projects), cwd=folder, RunAnalyzers="false")
    return {name: client / BUILT for name, client in clients.items()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_mutant_has_its_place(language: str, every_byte: Path, tmp_path: Path) -> None:
    """Every language has its own, and the text that each changes stands once in its client."""
    found = mutations(language)
    assert list(found) == [mutant.id for mutant in mutants_of(language)]
    client = write(language, tmp_path, every_byte)
    for fault in found.values():
        with fault.planted(client):
            pass


def test_the_page_lists_all(repository: Path) -> None:
    """docs/verification.md has every mutant with its stages, and how many there are."""
    page = (repository / "docs/verification.md").read_text(encoding="utf-8")

    def table(heading: str) -> list[str]:
        section = page.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
        return [line for line in section.splitlines() if line.startswith("| ")][1:]

    files = read_mutants("models")
    assert table("Clients that are wrong") == [row(one) for one in MUTANTS if one.stages]
    assert table("Files that are wrong") == [row(one) for one in files if one.stages]
    harmless = [f"| {one.id} | a client |" for one in MUTANTS if not one.stages]
    harmless += [f"| {one.id} | a file |" for one in files if not one.stages]
    assert table("Other, and no worse") == harmless
    runs = [*(one for language in LANGUAGES for one in mutants_of(language)), *files * 2]
    wrong = sum(bool(one.stages) for one in runs)
    sound = len(runs) - wrong
    assert f"`caught {wrong} of {wrong}, and {sound} of {sound} harmless ones passed`" in page


@pytest.mark.mutants
@pytest.mark.usefixtures("own_sources")
@pytest.mark.parametrize(("language", "mutant"), marked())
def test_verify_says_what_is_wrong(
    language: str,
    mutant: Mutant,
    every_byte: Path,
    prepared: Callable[[str], Path],
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    """Just the stages of the cases that the mutant gets wrong fail."""
    if WITHOUT_ICU and "Normalize(" in mutations(language)[mutant.id].replace:
        pytest.skip("this .NET has no ICU, without which Normalize changes no text")
    client = prepared(language)
    fault = mutations(language)[mutant.id]
    if language == "csharp":
        shutil.copy(request.getfixturevalue("libraries")[mutant.id], client / USED)
        planted: AbstractContextManager[None] = nullcontext()
    else:
        planted = compiled(client, fault) if language == "java" else fault.planted(client)
    with planted:
        if language in ("go", "rust"):
            rebuild(client)
        report = verify(every_byte, client)
    also = tuple(Stage(one) for one in fault.also if one != "stream" or has_streams(language))
    expected = replace(mutant, stages=mutant.stages + also)
    expected.check(report, every_byte, record_property)
