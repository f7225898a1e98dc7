"""Families of tests of which a few members run at every change, and the rest every week."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def weekly_but(count: int, rows: Iterable[Any]) -> list[ParameterSet]:
    """The rows of a parametrization, of which all behind the first so many are weekly.

    A tuple is a row of several parameters.
    """
    params = []
    for number, row in enumerate(rows):
        param = pytest.param(*row) if type(row) is tuple else row
        param = param if isinstance(param, ParameterSet) else pytest.param(param)
        marks = (pytest.mark.weekly,) if number >= count else ()
        params.append(param._replace(marks=(*param.marks, *marks)))
    return params
