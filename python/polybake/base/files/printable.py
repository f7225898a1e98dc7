"""Text from outside made fit for a terminal, for XML and for Markdown."""

import re
from html import escape


def printable(text: str) -> str:
    """Escape every character that is not printable, such as NUL, ESC and line breaks.

    The result is legal in XML 1.0 and cannot control a terminal.
    """
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def escaped(text: str) -> str:
    """Escape it for HTML and SVG, between tags and within quoted attributes."""
    return escape(printable(text))


def code_span(text: str) -> str:
    """Return text as a Markdown code span, in which no character has a meaning.

    Source: CommonMark 0.31, 6.1: a span ends at as many backticks as it began with.
    """
    text = printable(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"
