"""Languages and devices that must not be skipped, by --require or POLYBAKE_REQUIRE."""

import os
from collections.abc import Iterable, Sequence

from polybake.base.modelfile.fixture import DEVICES
from polybake.errors import InputError
from polybake.generation.languages import LANGUAGES
from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.services.address import is_address
from polybake.verification.verdict import Status, Verdict, executed

VARIABLE = "POLYBAKE_REQUIRE"


def required_names(named: Iterable[str], clients: Sequence[Client]) -> frozenset[str]:
    """Return the given names, and the names in POLYBAKE_REQUIRE (separated by commas)."""
    variable = os.environ.get(VARIABLE, "").split(",")
    names = frozenset(name.strip() for name in (*named, *variable) if name.strip())
    known = dict.fromkeys((*LANGUAGES, *(client.language for client in clients), *DEVICES))
    for name in sorted(names - known.keys()):
        raise InputError(f"required {name!r} is unknown; choose among: {', '.join(known)}")
    return names


def unmet(required: Iterable[str], verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return a sentence for each required name that was skipped anywhere or never executed."""
    return tuple(filter(None, (_unmet(name, verdicts) for name in sorted(required))))


def _unmet(name: str, verdicts: Sequence[Verdict]) -> str:
    if name in DEVICES:
        # The device behind an address is unknown.
        mine = [v for v in verdicts if v.device == name and not is_address(v.language)]
        forbidden = {Status.MISSING_DEVICE}
    else:
        mine = [v for v in verdicts if v.language == name]
        forbidden = {Status.MISSING_TOOLCHAIN, Status.SKIP_CAPABILITY}
    for verdict in mine:
        if verdict.status in forbidden:
            return (
                f"{name} is required, but {verdict.language} on {verdict.device} is "
                f"{verdict.status}: {verdict.message}"
            )
    if not any(v.status.failed or executed(v) for v in mine):
        return f"{name} is required, but no client ran it; add its client folder or --device"
    return ""
