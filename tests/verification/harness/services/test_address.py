"""Addresses of services, the headers that are sent to them, and the vectors that they give."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from polybake.errors import InputError
from polybake.verification.harness.services.address import check_address, headers_for, is_address
from polybake.verification.harness.services.dialects import agreed, encoded, stacked


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8080/v1/embeddings",
        "https://example.org/v1/embeddings?api-version=1#text-embedding-3-small",
        "http://[::1]:8080/embed",
    ],
)
def test_a_route_that_is_known(address: str) -> None:
    """A route is recognised by the end of its path."""
    assert is_address(address)
    check_address(address)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://localhost/v1/chat", "expected a route that ends in /embeddings, as OpenAI's, or"),
        ("http:///embed", "expected an address such as"),
        ("http://a b/embed", "in ASCII and without spaces"),
        ("http://localhost:99999/embed", "Port out of range"),
    ],
)
def test_what_cannot_be_asked_is_refused(address: str, says: str) -> None:
    """The message holds the address and what was expected."""
    with pytest.raises(InputError, match=says):
        check_address(address)


def test_a_password_in_an_address_is_refused_unseen() -> None:
    """Everybody can read a command line, so passwords are refused and never repeated."""
    with pytest.raises(InputError, match="POLYBAKE_HEADERS") as refused:
        check_address("https://ada:secret@example.org/embed")
    assert "secret" not in str(refused.value)
    assert not is_address("httpie")  # a program


def test_headers_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable holds one header a line, also for two routes of one server."""
    monkeypatch.setenv("POLYBAKE_HEADERS", "Authorization: Bearer a b\n\nX-Team:search\n")
    both = ["http://localhost:1/embed", "http://localhost:1/v1/embeddings"]
    assert headers_for(both) == {"Authorization": "Bearer a b", "X-Team": "search"}


@pytest.mark.parametrize("value", ["Bearer secret", "A: b\nsecret", "A: sécret", "A b: secret"])
def test_what_is_no_header_is_refused_unseen(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """The message has the number of the line and not its text."""
    monkeypatch.setenv("POLYBAKE_HEADERS", value)
    with pytest.raises(InputError, match=r"line \d is no header") as refused:
        headers_for(["http://localhost/embed"])
    assert "cret" not in str(refused.value)


def test_a_key_goes_to_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers are refused if several servers are verified, so that no key reaches the wrong one."""
    monkeypatch.setenv("POLYBAKE_HEADERS", "Authorization: secret")
    with pytest.raises(InputError, match="would be sent to http://a, https://a") as refused:
        headers_for(["http://a/embed", "https://a/embed"])
    assert "secret" not in str(refused.value)


def test_numbers_and_base64_are_the_same() -> None:
    """Both forms give the same float32 values, bit for bit."""
    row = np.array([0.1, -3e-38, 7], np.float32)
    text = base64.b64encode(row.tobytes()).decode()
    np.testing.assert_array_equal(stacked([[float(x) for x in row]]), stacked([text]))
    assert np.isinf(stacked([[1e300]])).all()  # which the judge refuses


@pytest.mark.parametrize("text", ["*", base64.b64encode(b"12345").decode()])
def test_what_is_no_base64_of_float32_is_refused(text: str) -> None:
    """Invalid base64 is refused, and so are left-over bytes."""
    with pytest.raises(ValueError, match="not base64 of float32"):
        stacked([text])


@pytest.mark.parametrize(
    ("vectors", "dtype"), [([[1, -128]], "int8"), ([[1.5, 2]], "float32"), ([[1, 128]], "float32")]
)
def test_integers_are_taken_for_such(vectors: list[list[float]], dtype: str) -> None:
    """Vectors are integers only if every number is one of the model's type."""
    found = encoded(stacked(vectors), "int8")
    assert found["dtype"] == dtype
    kept = np.frombuffer(base64.b64decode(found["data"]), dtype).reshape(found["shape"])
    np.testing.assert_array_equal(kept, vectors)


def test_encodings_must_agree() -> None:
    """Both encodings have the same shape, and agree within the tolerance."""
    first = stacked([[0.6, 0.8]])
    assert agreed([first, first + np.float32(5e-6)]) is first
    with pytest.raises(ValueError, match="other vectors than as numbers: row 0"):
        agreed([first, first + np.float32(1e-4)])
    with pytest.raises(ValueError, match=r"of shape \[1, 1\], not \[1, 2\]"):
        agreed([first, first[:, :1]])
