"""Text from outside made fit for a terminal and for XML."""

from html import escape


def printable(text: str) -> str:
    """Escape every character that is not printable, such as NUL, ESC and line breaks.

    What remains is legal in XML 1.0 and cannot steer a terminal.
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
