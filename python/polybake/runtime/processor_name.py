"""The name of this machine's processor."""

import platform
import re
from pathlib import Path

_NAME = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


def processor_name(information: Path = Path("/proc/cpuinfo")) -> str:
    """Return the first processor's name; Arm does not list it, and macOS has no such file."""
    try:
        match = _NAME.search(information.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        match = None
    return match[1].strip() if match else platform.processor() or platform.machine()
