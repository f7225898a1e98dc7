"""The architectures with drawn weights, of which telling ones are tried at every change."""

import pytest

from models.folders.drawn import DRAWN

#: Norms before and after a block; positions of a table, relative and rotary; a decoder.
TELLING = ("bert", "deberta-v2", "qwen3")

#: All of them, as parameters of a test.
EVERY = [pytest.param(kind, marks=() if kind in TELLING else pytest.mark.weekly) for kind in DRAWN]
