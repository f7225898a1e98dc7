"""Labels that callers ask for, checked before anything is run."""

from collections.abc import Sequence

from .arguments import checked_texts


def checked_labels(labels: Sequence[str]) -> list[str]:
    """At least one label, and none twice."""
    listed = list(checked_texts(labels, "labels"))
    if not listed:
        raise ValueError("labels is empty; give at least one")
    for place, label in enumerate(listed):
        if label in listed[:place]:
            raise ValueError(f'labels[{place}] is "{label}" again; give each label once')
    return listed
