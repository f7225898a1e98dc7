"""The id of a request is the caller's or a new one."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from polybake.serving.work import request_id

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"X-Request-Id": "a-1.b:2"}, "a-1.b:2"),
        ({"X-Request-Id": "a", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}, "a"),
        ({"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}, TRACE),
        ({"X-Request-Id": "a b", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}, TRACE),
    ],
)
def test_the_callers_own_is_kept(headers: dict[str, str], expected: str) -> None:
    """X-Request-Id wins over the id of the trace."""
    assert request_id(Headers(headers)) == expected


@pytest.mark.parametrize("given", ["", "a" * 129, "a\tb", '{"a"}', "caf\u00e9"])
def test_another_is_made(given: str) -> None:
    """A new id is made if there is none, or one that may not stand in a log."""
    made = [request_id(Headers({"X-Request-Id": given, "traceparent": given})) for _ in range(2)]
    assert made[0] != made[1]
    assert all(len(one) == 32 for one in made)
