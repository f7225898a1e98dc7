"""Write SVG: paints for a light and a dark background, elements, and text that stays text."""

from collections.abc import Iterable, Mapping

from polybake.base.files.printable import escaped

#: Fill and stroke on light ground, then on dark ground.
Colours = tuple[str, str, str, str]

_FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif\""

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
        self._picture = picture
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
        """Return a line of text from outside."""
        return f'<text {self[paint]} x="{x:.1f}" y="{y:.1f}" {style}>{escaped(text)}</text>'

    def shape(self, name: str, paint: str, told: str = "", **attributes: float | str) -> str:
        """Return an element such as ``rect``.

        Args:
            name: The element's name.
            paint: The class of its paint.
            told: What a viewer shows of it, a text from outside.
            attributes: Its attributes, with ``_`` in place of ``-``.
        """
        given = " ".join(
            f'{key.replace("_", "-")}="{value if isinstance(value, str) else f"{value:.1f}"}"'
            for key, value in attributes.items()
        )
        return f"<{name} {self[paint]} {given}>{_title(told)}</{name}>"

    def picture(self, width: float, height: float, drawn: Iterable[str], told: str = "") -> str:
        """Return the whole picture on its ground.

        Args:
            width, height: Its size in pixels.
            drawn: Its elements.
            told: What it shows, a text from outside.
        """
        size = f'width="{width:.0f}" height="{height:.0f}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="{self._picture}" role="img" {size}'
        lines = [
            f'{head} viewBox="0 0 {width:.0f} {height:.0f}" {_FONT} font-size="12">',
            _title(told),
            self.style,
            f"<rect {self['ground']} {size}/>",
            *drawn,
            "</svg>\n",
        ]
        return "\n".join(lines)


def _title(told: str) -> str:
    return f"<title>{escaped(told)}</title>" if told else ""
