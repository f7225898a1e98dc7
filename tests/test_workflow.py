"""The project's own workflows: every session that they call is there, and every one is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ci import read_sessions


def jobs(repository: Path, name: str) -> dict[str, Any]:
    text = (repository / ".github" / "workflows" / name).read_text(encoding="utf-8")
    return dict(yaml.safe_load(text)["jobs"])


def test_every_session_has_a_job(repository: Path) -> None:
    """A session that no job calls would be left out in silence."""
    found = jobs(repository, "ci.yml")
    shards = found["sessions"]["strategy"]["matrix"]["sessions"]
    pages = next(one["run"] for one in found["pages"]["steps"] if ".ci/run" in one.get("run", ""))
    called = [*pages.split()[1:], *" ".join(shards).split()]
    assert sorted(called) == sorted(one.name for one in read_sessions(repository))


def test_what_nox_is_told_is_a_session(repository: Path) -> None:
    """A session that is renamed would fail on every platform at once."""
    noxfile = (repository / "noxfile.py").read_text(encoding="utf-8")
    platforms = jobs(repository, "ci.yml")["platforms"]["strategy"]["matrix"]["session"]
    for session in (*platforms, "base", "wheel"):
        assert f"\ndef {session}(session: nox.Session)" in noxfile


def test_a_release_waits_for_all_of_it(repository: Path) -> None:
    """Nothing is built or published before every session has passed."""
    found = jobs(repository, "release.yml")
    assert found["check"]["uses"] == "$/.github/workflows/ci.yml"
    assert (found["build"]["needs"], found["publish"]["needs"]) == ("check", "build")
