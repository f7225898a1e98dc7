"""The error of a harness that gave no usable answer."""

from __future__ import annotations

from polybake.verification.verdict import Status


class HarnessError(Exception):
    """There is no usable answer; says which verdict that is."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
