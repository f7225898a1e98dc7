"""The lines of the log."""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime

from polybake.serving.log import Lines


def line(message: object, *arguments: object, error: bool = False) -> dict[str, object]:
    """The parsed line of a log record."""
    caught = sys.exc_info() if error else None
    record = logging.LogRecord("a", logging.WARNING, "a", 1, message, arguments, caught)
    shown = Lines().format(record)
    assert "\n" not in shown
    found: dict[str, object] = json.loads(shown)
    return found


def test_facts_stand_by_name_behind_the_time() -> None:
    """Every line has a time in ISO 8601 with its offset, and facts by name."""
    found = line({"status": 200})
    time = datetime.fromisoformat(str(found.pop("time")))
    assert time.utcoffset() is not None
    assert found == {"level": "warning", "status": 200}


def test_what_libraries_say_is_a_line_of_json() -> None:
    """Only the first line of a library's message is kept, as the rest may quote callers."""
    assert line("Invalid HTTP %s.\na secret", "request")["message"] == "Invalid HTTP request."


def test_an_exception_is_its_type_and_place() -> None:
    """An exception's message may quote a text, so it is left out."""
    try:
        raise ValueError("a secret")
    except ValueError:
        found = line("failed", error=True)
    assert found["error"] == "ValueError"
    assert "test_log.py" in str(found["traceback"])
    assert "a secret" not in str(found).replace('raise ValueError("a secret")', "")
