"""The heads that tasks need, and their labels."""

import re

from polybake.baking.sources.source import HeadKind, Source, TaskHead
from polybake.errors import InputError

LABELS: HeadKind = "ForSequenceClassification"
#: A language model whose logits score pairs.
LOGITS: HeadKind = "ForCausalLM"

#: The names that transformers gives to labels without names.
_NUMBERED = re.compile(r"LABEL_[0-9]+")


def needed_head(source: Source, purpose: str, kind: HeadKind = LABELS) -> TaskHead:
    """Return the head of a source; by default a head with a number for each label."""
    if source.head is None or source.head.kind != kind:
        raise InputError(
            f"{source.folder.path}: was not trained to {purpose}; expected a model whose "
            f"config.json has an architecture that ends in {kind}"
        )
    return source.head


def checked_labels(
    source: Source, columns: int, purpose: str, kind: HeadKind = LABELS
) -> tuple[str, ...]:
    """Return the labels of an output's columns, in order: the user's labels, or else the head's."""
    labels, key = source.labels, "model.labels"
    if not labels:
        labels, key = needed_head(source, purpose, kind).labels, "id2label of config.json"
        if all(map(_NUMBERED.fullmatch, labels)):
            raise InputError(
                f"{source.folder.path}: {key} has {', '.join(labels[:3])}, which say nothing; "
                f'name the {columns} there or in [model], such as labels = ["no", "yes"]'
            )
    if len(labels) != columns:
        raise InputError(
            f"{source.folder.path}: {key} names {len(labels)} labels, and the steps give "
            f"{columns} numbers; name as many"
        )
    for number, label in enumerate(labels):
        if not label:
            raise InputError(
                f"{source.folder.path}: the label of number {number} in {key} is empty; "
                "give it a name"
            )
        if labels.count(label) > 1:
            raise InputError(
                f"{source.folder.path}: the label {label!r} stands twice in {key}; give "
                "each number a name of its own"
            )
    return labels


def trained_head(source: Source, kind: HeadKind = LABELS) -> TaskHead | None:
    """Return the head of this kind, if the source's files say that it is one.

    None if a source has none, or lists steps of its own.
    """
    head = source.head
    match = head is not None and head.kind == kind and not head.unsaid
    return head if match and not source.recipe else None


def labels_of(source: Source) -> tuple[str, ...]:
    """Return the labels of a source's head; empty if it has none, or lists steps of its own."""
    head = trained_head(source)
    return () if head is None else head.labels
