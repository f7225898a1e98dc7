"""Signals of POSIX systems, by name, since Windows has not all of them."""

from __future__ import annotations

import os

import pytest
from _pytest.mark import ParameterSet

#: Windows ends a process in its own way, and lets not everybody make a link.
posix = pytest.mark.skipif(os.name == "nt", reason="needs the signals or links of a POSIX system")


def signals(*cases: object) -> list[ParameterSet]:
    """Parameters with a signal's name, skipped visibly where there are no such signals."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=posix) for case in cases
    ]
