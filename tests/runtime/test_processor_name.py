"""The processor's own name."""

from __future__ import annotations

from pathlib import Path

from polybake.runtime.processor_name import processor_name


def test_what_the_processor_calls_itself(tmp_path: Path) -> None:
    """The first name in the file counts; if there is none, Python's own is taken."""
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz \nmodel name\t: B\n")
    assert processor_name(file) == "A CPU @ 2 GHz"
    file.write_text("CPU implementer\t: 0x41\n")
    assert processor_name(file) == processor_name(tmp_path / "none")
