"""What callers may give beside labels, checked before anything is run."""

from .arguments import checked_text


def checked_template(template: str) -> str:
    """A text with a place for a label."""
    if "{}" not in checked_text(template, "template"):
        raise ValueError(f'template is "{template}"; put {{}} where the label goes')
    return template


def checked_flag(name: str, value: bool) -> bool:
    """True or false; ``name`` is its argument's."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} is {type(value).__name__}; expected true or false")
    return value
