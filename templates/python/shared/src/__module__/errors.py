"""Every error of this package. Each can be pickled, so that another process can raise it."""


class Error(Exception):
    """Base of all errors of this package; the last of its arguments is the message."""

    def __str__(self) -> str:
        return str(self.args[-1])


class ModelError(Error):
    """The file is no model file, is damaged, is not this client's, or does not run on the CPU."""


class DeviceError(Error):
    """The device is not there, or fails."""


class UnknownPromptError(Error, ValueError):
    """The model has no prompt of that name."""


class InvalidTextError(Error, ValueError):
    """A text is not valid Unicode; ``index`` is its place in the list."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(index, message)
        self.index = index


class InvalidIdsError(Error, ValueError):
    """Token ids that the model does not have; ``row`` is the place of their row."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(row, message)
        self.row = row


class SelfCheckError(Error):
    """A golden case of the model file was not reproduced."""

    def __init__(self, case: str, stage: str, difference: float, limit: float) -> None:
        super().__init__(case, stage, difference, limit)
        self.case, self.stage, self.difference, self.limit = case, stage, difference, limit

    def __str__(self) -> str:
        return (
            f"self-check: case {self.case}, stage {self.stage}: "
            f"difference {self.difference:g} exceeds {self.limit:g}; "
            "the model file, this client or its packages changed"
        )


class ClosedError(Error):
    """The model was closed."""
