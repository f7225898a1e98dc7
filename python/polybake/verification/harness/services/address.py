"""The address of a service over HTTP, and the headers that are sent to it."""

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from polybake.errors import InputError

#: The variable with a header per line, such as ``Authorization: Bearer …``: everybody on the
#: machine can read a command line.
VARIABLE = "POLYBAKE_HEADERS"

#: The ends of the known routes.
EMBEDDINGS, EMBED = "/embeddings", "/embed"

# Source: RFC 9110, "Fields".
_HEADER = re.compile(
    r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)"
)


def is_address(command: str) -> bool:
    """Whether ``--harness`` names a service rather than a program."""
    return command.lower().startswith(("http://", "https://"))


def check_address(address: str) -> None:
    """Check that an address is valid, and that its route is known."""
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError as error:
        raise InputError(f"harness {address!r}: {error}; correct the address") from error
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"harness: the address of {parts.hostname} holds a user or a password; give these in "
            f"the environment variable {VARIABLE}, as 'Authorization: …'"
        )
    if not named or not re.fullmatch(r"[\x21-\x7e]+", address):
        raise InputError(
            f"harness {address!r}: expected an address such as http://localhost:8080/embed, "
            "in ASCII and without spaces"
        )
    if not parts.path.endswith((EMBEDDINGS, EMBED)):
        raise InputError(
            f"harness {address!r}: expected a route that ends in {EMBEDDINGS}, as OpenAI's, or in "
            f"{EMBED}, as that of text-embeddings-inference"
        )


def headers_for(addresses: Iterable[str]) -> dict[str, str]:
    """Return the headers in POLYBAKE_HEADERS, which may go to one server only."""
    lines = [line for line in os.environ.get(VARIABLE, "").splitlines() if line.strip()]
    headers = [_HEADER.fullmatch(line.strip()) for line in lines]
    if None in headers:
        number = headers.index(None) + 1
        raise InputError(
            f"{VARIABLE}: line {number} is no header; expected 'Name: value' in ASCII, one a line"
        )
    servers = sorted({"{0.scheme}://{0.netloc}".format(urlsplit(address)) for address in addresses})
    if headers and len(servers) > 1:
        raise InputError(
            f"{VARIABLE} would be sent to {', '.join(servers)}; verify one server after the other"
        )
    return {match[1]: match[2] for match in headers if match}
