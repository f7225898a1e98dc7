"""Shared parts of SVG pictures: paints for light and dark backgrounds, and text in them."""

from collections.abc import Mapping

from polybake.base.files.printable import escaped

#: Fill and stroke on light ground, then on dark ground.
Colours = tuple[str, str, str, str]

FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif\""

_COMMON: dict[str, Colours] = {
    "ground": ("#f8fafc", "none", "#0f172a", "none"),
    "ink": ("#0f172a", "none", "#f1f5f9", "none"),
    "quiet": ("#475569", "none", "#b6c2d2", "none"),
}


class Paint:
    """The paints of a picture by their classes: ``ground``, ``ink``, ``quiet`` and its own.

    Colours are attributes, which every viewer and converter knows; only the colours of a dark
    background are CSS.

    Args:
        picture: The class of the picture.
        own: The picture's own paints.
    """

    def __init__(self, picture: str, own: Mapping[str, Colours]) -> None:
        colours = {**_COMMON, **own}
        self._attributes = {
            name: f'class="{name}" fill="{fill}" stroke="{stroke}"'
            for name, (fill, stroke, _, _) in colours.items()
        }
        dark = " ".join(
            f".{picture} .{name} {{ fill: {fill}; stroke: {stroke} }}"
            for name, (_, _, fill, stroke) in colours.items()
        )
        #: The element with the colours of a dark background.
        self.style = f"<style>@media (prefers-color-scheme: dark) {{ {dark} }}</style>"

    def __getitem__(self, name: str) -> str:
        """Return the attributes of elements with this paint."""
        return self._attributes[name]

    def text(self, x: float, y: float, text: str, style: str = "", *, paint: str = "ink") -> str:
        """A line of text from outside."""
        return f'<text {self[paint]} x="{x:.1f}" y="{y:.1f}" {style}>{escaped(text)}</text>'
