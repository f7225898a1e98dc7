"""The machine that a matrix was run on."""

import platform
import re
from pathlib import Path

from polybake.runtime.processor_name import processor_name

_FLAGS = re.compile(r"^flags\s*:\s*(.+)$", re.MULTILINE)

#: The instruction sets by which ONNX Runtime chooses kernels on x86, as /proc/cpuinfo spells them.
_SETS = ("sse4_1", "avx", "avx2", "fma", "avx_vnni", "avx512f", "avx512_vnni", "amx_int8")


def machine(information: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor, with the instruction sets that matter, and the system."""
    try:
        text = information.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    flags = _FLAGS.search(text)
    known = set(flags[1].split()) if flags else set()
    sets = ", ".join(one for one in _SETS if one in known)
    return f"{processor_name(information)}{f' ({sets})' if sets else ''}, {platform.system()}"
