"""The head that a task of labels needs."""

import re

from polybake.baking.sources.source import HeadKind, Source, TaskHead
from polybake.errors import InputError

LABELS: HeadKind = "ForSequenceClassification"

#: What transformers writes where nobody names them.
_NUMBERED = re.compile(r"LABEL_[0-9]+")


def needed_head(source: Source, purpose: str, kind: HeadKind = LABELS) -> TaskHead:
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


def checked_labels(
    source: Source, columns: int, purpose: str, kind: HeadKind = LABELS
) -> tuple[str, ...]:
    """The labels of an output's columns, in their order: the user's, or those of the head.

    Raises:
        InputError: there are not as many labels as columns, one is empty or there twice, or nobody
            has named what the columns are.
    """
    labels, place = source.labels, "model.labels"
    if not labels:
        labels, place = needed_head(source, purpose, kind).labels, "id2label of config.json"
        if all(map(_NUMBERED.fullmatch, labels)):
            raise InputError(
                f"{source.folder.path}: {place} has {', '.join(labels[:3])}, which say nothing; "
                f'name the {columns} there or in [model], such as labels = ["no", "yes"]'
            )
    if len(labels) != columns:
        raise InputError(
            f"{source.folder.path}: {place} names {len(labels)} labels, and the steps give "
            f"{columns} numbers; name as many"
        )
    for number, label in enumerate(labels):
        if not label:
            raise InputError(
                f"{source.folder.path}: the label of number {number} in {place} is empty; "
                "give it a name"
            )
        if labels.count(label) > 1:
            raise InputError(
                f"{source.folder.path}: the label {label!r} stands twice in {place}; give "
                "each number a name of its own"
            )
    return labels


def trained_head(source: Source, kind: HeadKind = LABELS) -> TaskHead | None:
    """The head of this kind; None where a source has none, or lists steps of its own."""
    head = source.head
    return head if head is not None and head.kind == kind and not source.recipe else None


def labels_of(source: Source) -> tuple[str, ...]:
    """The labels of a source's head; empty where it has none, or lists steps of its own."""
    head = trained_head(source)
    return () if head is None else head.labels
