"""Run programs as on a fresh machine, where nobody decided about caches or telemetry."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

#: What programs need to start. ONNX Runtime sends nothing where a variable such as
#: GITHUB_ACTIONS says that this is CI: of this environment only these may be seen.
NEEDED = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR", "DOTNET_ROOT")
NEEDED_BY_DOTNET = "DOTNET_SYSTEM_GLOBALIZATION_"


def fresh_environment(home: Path, **variables: str) -> dict[str, str]:
    """An environment whose home is ``home``, with ``variables``, and with no wish of anybody."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in NEEDED or name.startswith(NEEDED_BY_DOTNET)
    }
    return kept | {"HOME": str(home)} | variables


def traced(trace: Path) -> list[str]:
    """What to put before a command so that `check_silent` can judge it; nothing without strace."""
    command = ["strace", "-f", "-e", "trace=socket,connect,openat", "-o", str(trace)]
    return command if shutil.which("strace") else []


def check_silent(trace: Path) -> None:
    """Check that the traced command opened no socket and looked up no name."""
    if trace.exists():
        seen = trace.read_text(errors="replace")
        assert "AF_INET" not in seen
        assert "/etc/resolv.conf" not in seen


def cut_off() -> list[str]:
    """What to put before a command that would send telemetry: it gets no network.

    Skips the test where that cannot be had.
    """
    command = ["unshare", "--map-root-user", "--net"]
    if not shutil.which(command[0]) or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("unshare cannot take the network away: telemetry would leave this machine")
    return command
