"""Clients that tokenise wrongly."""

from __future__ import annotations

from faulty.reference import Reference


class WrongId(Reference):
    """The last token id is another one."""

    def tokenize(self, request):
        rows = super().tokenize(request)
        return [*rows[:-1], [*rows[-1][:-1], rows[-1][-1] + 1]]


class DroppedToken(Reference):
    """The last token is missing."""

    def tokenize(self, request):
        rows = super().tokenize(request)
        return [*rows[:-1], rows[-1][:-1]]


class AddedToken(Reference):
    """A padding token is left in."""

    def tokenize(self, request):
        return [[*ids, 0] for ids in super().tokenize(request)]


class IdsAsFloats(Reference):
    """Token ids are written as 101.0."""

    def tokenize(self, request):
        return [[float(i) for i in ids] for ids in super().tokenize(request)]


class ForgetsPrompt(Reference):
    """The prompt is not put before the text."""

    def answer(self, request):
        return super().answer(request | {"prompt": None} if "texts" in request else request)
