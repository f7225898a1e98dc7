"""Lines of the log: JSON, without a word of what callers send."""

import logging
import sys
import traceback
from datetime import UTC, datetime

import orjson

#: Where each request leaves a line.
LOG = logging.getLogger("polybake.serving")


class Lines(logging.Formatter):
    """A record as one line of JSON: facts by name, or the first line of a library's message.

    The message of an exception may quote a text, so its type and place stand for it.
    """

    def format(self, record: logging.LogRecord) -> str:
        """A line with the time, in UTC as of ISO 8601."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        shown: dict[str, object] = {"time": time, "level": record.levelname.lower()}
        if isinstance(record.msg, dict):
            shown |= record.msg
        else:
            shown["message"] = record.getMessage().strip().partition("\n")[0]
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            shown["error"] = type(error).__name__
            shown["traceback"] = traceback.format_tb(error.__traceback__)
        return orjson.dumps(shown).decode()


def to_standard_error() -> None:
    """Write what the service and its libraries log, a line each, and nothing twice."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    LOG.setLevel(logging.INFO)
    for logger in (LOG, logging.getLogger("uvicorn"), logging.getLogger("asyncio")):
        logger.addHandler(handler)
        logger.propagate = False
