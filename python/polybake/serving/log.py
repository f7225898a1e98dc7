"""The log's lines: JSON, without any text that callers send."""

import logging
import sys
import traceback
from datetime import UTC, datetime

import orjson

#: The logger with a line for each request.
LOG = logging.getLogger("polybake.serving")


class Lines(logging.Formatter):
    """Formats a record as a line of JSON: facts by name, or a message's first line.

    The message of an exception may quote a text, so only its type and place are logged.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a line with the time, in UTC by ISO 8601."""
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
    """Write the logs of the service and its libraries as lines, each once."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    LOG.setLevel(logging.INFO)
    for logger in (LOG, logging.getLogger("uvicorn"), logging.getLogger("asyncio")):
        logger.addHandler(handler)
        logger.propagate = False
