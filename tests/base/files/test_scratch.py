"""Temporary folders: what is shown in them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from polybake.base.files.scratch import show_in


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_where_no_link_can_be_made(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows lets not everybody make a link, and a copy does as well; elsewhere it is an error."""

    def refuse(*_: object) -> None:
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    monkeypatch.setattr(sys, "platform", system)
    (tmp_path / "file").write_bytes(b"a\r\n")
    if system == "win32":
        show_in(tmp_path / "place", tmp_path / "file")
        assert (tmp_path / "place").read_bytes() == b"a\r\n"
    else:
        with pytest.raises(OSError, match="privilege"):
            show_in(tmp_path / "place", tmp_path / "file")
