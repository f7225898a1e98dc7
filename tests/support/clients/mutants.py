"""Clients and model files made wrong, or other and no worse, and what verify must say of them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from polybake.base.modelfile.container import read_head
from polybake.verification.report import Report
from polybake.verification.verdict import MANY_STAGES, SESSION, Stage, Status
from support.clients.planted import Fault, entries, read_faults
from support.clients.rendered import failed, has_streams

_FOLDER = Path(__file__).parents[2] / "mutants"

#: A mutant with so many cases or more has them counted, not named.
_MANY = 4


@dataclass(frozen=True)
class Mutant:
    """One entry of tests/mutants/clients.toml or models.toml.

    Attributes:
        cases: The cases that fail, ``*`` for all; a harmless change has none.
        stages: The stages that fail in these cases. A failing self-check is an error.
        refused: Stages that the client refuses, which are errors, too.
        says: Stands in the message of one of the verdicts.
        change: A function of models/mutated/mutated_tokens.py or mutated_graph.py, for model files.
    """

    id: str
    cases: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    refused: tuple[Stage, ...] = ()
    says: str = ""
    change: str = ""

    def statuses(self, cases: tuple[str, ...]) -> dict[tuple[str, str], Status]:
        """Status by case and stage, where it is not pass; ``cases`` are all there are."""
        statuses = {}
        for stage in self.stages:
            checked, refused = stage is Stage.SELF_CHECK, stage in self.refused
            named = cases if "*" in self.cases else self.cases
            for case in (SESSION,) if checked or stage in MANY_STAGES else named:
                statuses[case, stage] = Status.ERROR if checked or refused else Status.FAIL
        return statuses

    def check(self, report: Report, sound: Path, record: Callable[[str, object], None]) -> None:
        """Just what is wrong fails, for the reason that it is wrong.

        Args:
            report: The report of verify, by the golden cases of ``sound``.
            sound: A model file.
            record: Keeps what the table at the end shows (support/clients/caught.py).
        """
        wrong = failed(report)
        if wrong:
            record("verdict", [str(wrong[0].stage), wrong[0].message])
        expected = self.statuses(tuple(case.id for case in read_head(sound).fixture.cases))
        assert {(one.case, one.stage): one.status for one in wrong} == expected
        assert not expected or any(self.says in one.message for one in wrong)
        assert report.exit_code() == bool(expected)


def read_mutants(kind: str) -> list[Mutant]:
    """The mutants of ``tests/mutants/KIND.toml``; KIND is ``clients`` or ``models``."""
    listed = tomllib.loads((_FOLDER / f"{kind}.toml").read_text(encoding="utf-8"))
    tuples = {"cases": str, "stages": Stage, "refused": Stage}
    return [
        Mutant(**entry | {key: tuple(map(of, entry.get(key, ()))) for key, of in tuples.items()})
        for entry in entries(listed, "mutants")
    ]


def mutants_of(language: str) -> list[Mutant]:
    """Those of the clients of a language; where they have no streams, none shows in these."""
    mutants = read_mutants("clients")
    if has_streams(language):
        return mutants
    without = [
        replace(one, stages=tuple(stage for stage in one.stages if stage is not Stage.STREAM))
        for one in mutants
    ]
    return [
        one for one, all_of in zip(without, mutants, strict=True) if one.stages or not all_of.stages
    ]


def mutations(language: str) -> dict[str, Fault]:
    """How the client of a language becomes each mutant of a client, by its id."""
    streams = {one.id for one in read_mutants("clients")} - {one.id for one in mutants_of(language)}
    faults = {fault.id: fault for fault in read_faults(language, "mutants")}
    return {name: fault for name, fault in faults.items() if name not in streams}


def row(mutant: Mutant) -> str:
    """The mutant's line in docs/verification.md."""
    few = ", ".join(f"`{case}`" for case in mutant.cases)
    cases = few if len(mutant.cases) < _MANY else f"{len(mutant.cases)} cases"
    stages = ", ".join(f"`{stage}`" for stage in mutant.stages)
    return f"| {mutant.id} | {stages} | {'all cases' if '*' in mutant.cases else cases} |"
