"""What one request is, and what was done for it, as its line in the log says."""

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
    """What was done for a request.

    Attributes:
        request: Its id.
        model: By whose name it was answered.
        texts: Of it.
        tokens: Of all texts, special ones included.
        at_limit: Texts with as many tokens as the model takes: mostly longer ones that were cut.
    """

    request: str
    model: str = ""
    texts: int = 0
    tokens: int = 0
    at_limit: int = 0


#: Of the request that is being served.
WORK: ContextVar[Work] = ContextVar("WORK")


def request_id(headers: Headers) -> str:
    """The id that a request has, or a new one.

    Args:
        headers: Of the request; ``X-Request-Id`` goes before ``traceparent``.
    """
    given = headers.get("x-request-id", "")
    if _ID.fullmatch(given):
        return given
    trace = _TRACE.fullmatch(headers.get("traceparent", ""))
    return trace[1] if trace else uuid.uuid4().hex
