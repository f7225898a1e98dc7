"""Request bodies are parsed at a known cost."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from polybake.serving.json_body import parsed
from polybake.serving.refusal import Refusal


@pytest.mark.parametrize("one", ["{}", "[]", "null", "0", "[0]", '"a"', '{"text":"a"}', '"\\""'])
def test_what_costs_more_than_its_bytes_is_refused(one: str) -> None:
    """Such a body is refused before objects are made, so a few copies of it are the most."""
    body = ('{"input":[' + ",".join([one] * (10**6 // len(one))) + "]}").encode()
    tracemalloc.start()
    with pytest.raises(Refusal, match="more than 100 texts") as refused:
        parsed(body, 100, 512)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused.value.status == 413
    assert peak < 5 * len(body)


@pytest.mark.parametrize(
    "given",
    [
        ["[{" * 1000, '"' * 5000, "\\" * 4999, '\\"', "a\\", ",,,,", "\u4e2d\n"],
        [[1] * 512] * 100,
        {"documents": [{"text": '"[,', "title": "a", "of": "b", "by": "c", "at": "d"}] * 100},
    ],
)
def test_what_a_request_may_say_is_parsed(given: object) -> None:
    """Brackets and quotes within texts do not count as structure."""
    for body in (json.dumps(given), json.dumps(given, ensure_ascii=False)):
        assert parsed(body.encode(), 100, 512) == given


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is no valid JSON (Input is a zero-length"),
        (b"{'input': 1}", "the body is no valid JSON (unexpected character"),
        (b"[" * 100 + b"]" * 99, "the body is no valid JSON ("),
        (b"[" + b"9" * 6000 + b"]", "the body is no valid JSON ("),
    ],
)
def test_what_is_no_json_is_named_so(body: bytes, message: str) -> None:
    """The status is 400, and the message says what is wrong with the JSON."""
    with pytest.raises(Refusal) as refused:
        parsed(body, 100, 512)
    assert refused.value.status == 400
    assert refused.value.message.startswith(message)


@pytest.mark.parametrize("body", [b'["\\ud800"]', b'["\xff"]'])
def test_a_text_is_valid_unicode(body: bytes) -> None:
    """Lone surrogates in JSON and invalid UTF-8 are refused."""
    with pytest.raises(Refusal, match="a text is not valid Unicode; repair or drop it"):
        parsed(body, 100, 512)
