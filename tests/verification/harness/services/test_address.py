"""Addresses of services, and the headers that are sent to them."""

from __future__ import annotations

import pytest

from polybake.errors import InputError
from polybake.verification.harness.services.address import check_address, headers_for, is_address


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


def test_a_program_is_no_address() -> None:
    """Commands are still run as programs."""
    assert not is_address("go run ./harness")
    assert not is_address("httpie")


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
