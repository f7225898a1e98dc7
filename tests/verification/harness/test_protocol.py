"""The protocol's messages."""

from __future__ import annotations

import json

import pytest

from polybake.verification.harness.protocol import (
    Errored,
    Results,
    Skipped,
    Tokenize,
    encode_request,
    parse_answer,
)


def test_request_is_one_line_of_ascii() -> None:
    """Line breaks and characters beyond ASCII are escaped, and come back as they were."""
    texts = ("a\nb\r\u2028", "\N{GRINNING FACE} ψ\0")
    line = encode_request(Tokenize(seq=3, texts=texts, prompt=None))
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {"cmd": "tokenize", "seq": 3, "texts": list(texts), "prompt": None}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"seq":1,"results":[[1]]}', Results(seq=1, results=[[1]])),
        (b'{"seq":1,"results":null}', Results(seq=1, results=None)),
        (b'{"seq":1,"skipped":true,"reason":"no"}', Skipped(seq=1, skipped=True, reason="no")),
        (
            b'{"seq":1,"errored":true,"kind":"device","message":"m"}',
            Errored(seq=1, errored=True, kind="device", message="m"),
        ),
        (
            b'{"seq":1,"errored":true,"kind":"invalid_text","message":"m","index":2}',
            Errored(seq=1, errored=True, kind="invalid_text", message="m", index=2),
        ),
    ],
)
def test_answers_are_read(line: bytes, expected: object) -> None:
    """Each of the three kinds of answer is understood."""
    assert parse_answer(line, 1) == expected


NO_JSON = "not a line of JSON in ASCII: "
NO_ANSWER = "not an answer of the protocol: "


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", NO_JSON),
        (b"\xff\xfe", NO_JSON),
        (b"[" * 100_000, NO_JSON),
        (b'{"seq":1,"results":NaN}', NO_JSON),
        (b'{"seq":1,"results":Infinity}', NO_JSON),
        (b"null", NO_ANSWER),
        (b"[]", NO_ANSWER),
        (b'{"seq":1}', NO_ANSWER),
        (b'{"results":1}', NO_ANSWER),
        (b'{"seq":"1","results":1}', NO_ANSWER),
        (b'{"seq":1,"results":1,"skipped":true,"reason":"both"}', NO_ANSWER),
        (b'{"seq":1,"skipped":false,"reason":"no"}', NO_ANSWER),
        (b'{"seq":1,"errored":true,"kind":"other","message":"m"}', NO_ANSWER),
        (b'{"seq":2,"results":1}', "an answer to request 2, expected one to 1"),
    ],
)
def test_anything_else_is_refused(line: bytes, says: str) -> None:
    """Invalid JSON, unknown messages and answers to another request are errors."""
    with pytest.raises(ValueError, match=f"^{says}"):
        parse_answer(line, 1)
