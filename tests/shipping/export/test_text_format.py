"""Strings of protobuf's text format, read back by protobuf itself."""

from __future__ import annotations

import pytest
from google.protobuf.text_encoding import CUnescape

from polybake.shipping.export.text_format import text_literal


@pytest.mark.parametrize(
    ("value", "text"),
    [("plain", '"plain"'), ('a"b\\c\n', '"a\\042b\\134c\\012"'), ("ü", '"\\303\\274"')],
)
def test_a_name_stays_inside_its_quotes(value: str, text: str) -> None:
    """Any name of an input is one string, whatever it contains."""
    assert text_literal(value) == text
    assert CUnescape(text[1:-1]).decode() == value
