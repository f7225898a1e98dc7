"""Where a service over HTTP answers, and what is sent to it besides the texts."""

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from polybake.errors import InputError

#: Holds one header a line, such as ``Authorization: Bearer …``: what stands in a command line
#: can be read by everybody on the machine.
VARIABLE = "POLYBAKE_HEADERS"

#: The ends of the routes that are known.
EMBEDDINGS, EMBED = "/embeddings", "/embed"

# Source: RFC 9110, "Fields".
_HEADER = re.compile(
    r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)"
)


def is_address(command: str) -> bool:
    """Whether ``--harness`` names a service rather than a program."""
    return command.lower().startswith(("http://", "https://"))


def check_address(address: str) -> None:
    """Check that an address can be asked, and that its route says how.

    Raises:
        InputError: no host, characters that no address has, a password, or an unknown route.
    """
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
    """The headers in POLYBAKE_HEADERS, which must all go to one server.

    Raises:
        InputError: a line is no header, or they would go to several servers. No value is named.
    """
    lines = [line for line in os.environ.get(VARIABLE, "").splitlines() if line.strip()]
    found = [_HEADER.fullmatch(line.strip()) for line in lines]
    if None in found:
        number = found.index(None) + 1
        raise InputError(
            f"{VARIABLE}: line {number} is no header; expected 'Name: value' in ASCII, one a line"
        )
    servers = sorted({"{0.scheme}://{0.netloc}".format(urlsplit(one)) for one in addresses})
    if found and len(servers) > 1:
        raise InputError(
            f"{VARIABLE} would be sent to {', '.join(servers)}; verify one server after the other"
        )
    return {match[1]: match[2] for match in found if match}
