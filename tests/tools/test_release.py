"""The notes of a release, and the faults that stop it."""

from __future__ import annotations

import pytest

from polybake.errors import InputError
from release import notes

CHANGELOG = """# Changelog

## Unreleased

- Not out yet.

## 0.2.0 - 2027-01-31

### Core
- Faster.

## 0.1.0 - 2026-12-01

- First.

## 0.0.1 - 2026-11-01
"""


@pytest.mark.parametrize(
    ("version", "said"), [("0.2.0", "### Core\n- Faster.\n"), ("0.1.0", "- First.\n")]
)
def test_a_tag_has_its_own_section(version: str, said: str) -> None:
    """The section has neither its heading nor its neighbours."""
    assert notes(f"v{version}", CHANGELOG, version) == said


@pytest.mark.parametrize(
    ("tag", "version", "message"),
    [
        ("v0.2.1", "0.2.0", "tag v0.2.1: .* says 0.2.0; tag v0.2.0"),
        ("", "0.2.0", "tag : .* says 0.2.0"),
        ("v0.3.0", "0.3.0", "no changes under '## 0.3.0 - YYYY-MM-DD'"),
        ("v0.0.1", "0.0.1", "no changes under '## 0.0.1"),
        ("v0x2.0", "0x2.0", "no changes under"),
    ],
)
def test_a_release_that_is_not_ready_is_refused(tag: str, version: str, message: str) -> None:
    """Another version, a missing section and an empty one are refused."""
    with pytest.raises(InputError, match=message):
        notes(tag, CHANGELOG, version)
