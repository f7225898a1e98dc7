"""What callers may give of labels, checked before anything is run."""

from collections.abc import Sequence

from .arguments import checked_text, checked_texts


def checked_labels(labels: Sequence[str]) -> list[str]:
    """At least one label, and none twice."""
    listed = list(checked_texts(labels, "labels"))
    if not listed:
        raise ValueError("labels is empty; give at least one")
    for place, label in enumerate(listed):
        if label in listed[:place]:
            raise ValueError(f'labels[{place}] is "{label}" again; give each label once')
    return listed


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
