"""What a fault is called."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(kind: type[Exception], message: str, call: Callable[[], object]) -> Any:
    """The error of a call, which is of just this kind and has just this message."""
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value) == message
    return caught.value
