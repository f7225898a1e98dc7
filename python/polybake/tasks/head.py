"""The head that a task of labels needs."""

from polybake.errors import InputError
from polybake.sources.source import Head, HeadKind, Source

LABELS: HeadKind = "ForSequenceClassification"


def needed_head(source: Source, purpose: str, kind: HeadKind = LABELS) -> Head:
    """The head of a source, by default one that gives a number for each label.

    Raises:
        InputError: it has none; ``purpose`` says what it was not trained for.
    """
    if source.head is None or source.head.kind != kind:
        raise InputError(
            f"{source.folder.path}: was not trained to {purpose}; expected a model whose "
            f"config.json has an architecture that ends in {kind}"
        )
    return source.head


def labels_of(source: Source) -> tuple[str, ...]:
    """The labels of a source's head; empty where it has none, or lists steps of its own."""
    head = source.head
    return head.labels if head is not None and head.kind == LABELS and not source.recipe else ()
