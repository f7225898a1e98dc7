"""A request and the work done for it, for its line in the log."""

import re
import uuid
from contextvars import ContextVar
from dataclasses import dataclass

from starlette.datastructures import Headers

#: An id that may stand in a header and in a log.
_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")

#: The id of a trace. Source: W3C Trace Context, ``traceparent``.
_TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.{0,64}")


@dataclass
class Work:
    """The work done for a request.

    Attributes:
        request: The request's id.
        model: The name of the model that answered it.
        texts: The number of its texts.
        tokens: The number of tokens of all its texts, with special tokens.
        at_limit: The number of texts with as many tokens as the model takes, most of them cut.
    """

    request: str
    model: str = ""
    texts: int = 0
    tokens: int = 0
    at_limit: int = 0


#: The work of the request that is being served.
WORK: ContextVar[Work] = ContextVar("WORK")


def request_id(headers: Headers) -> str:
    """Return the request's id, or a new id."""
    value = headers.get("x-request-id", "")
    if _ID.fullmatch(value):
        return value
    trace = _TRACE.fullmatch(headers.get("traceparent", ""))
    return trace[1] if trace else uuid.uuid4().hex
