"""Run programs as on a fresh machine, where nobody decided about caches or telemetry."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

#: What programs need to start. ONNX Runtime sends nothing where a variable such as
#: GITHUB_ACTIONS says that this is CI: of this environment only these may be seen.
NEEDED = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR", "DOTNET_ROOT")
NEEDED_BY_DOTNET = "DOTNET_SYSTEM_GLOBALIZATION_"


#: Seconds: what looks outside may wait there for ever.
PATIENCE = 120


def run_silently(
    home: Path,
    *command: str | Path,
    cwd: Path,
    text: str = "",
    probing: bool = False,
    **variables: str,
) -> str:
    """Run a command that must succeed, open no socket and look up no name, as far as strace tells.

    Args:
        home: A folder, made where it is missing. A file ``trace`` is written beside it.
        command: Is run with ``text`` as its input and ``variables`` in its environment.
        probing: It may open sockets that it connects to nothing, as urllib3 does when it is
            imported, to see whether there is IPv6.

    Returns:
        What it printed.
    """
    trace = home.with_name("trace")
    strace = ["strace", "-f", "-e", "trace=socket,connect,openat", "-o", trace]
    before = strace if shutil.which("strace") else []
    printed = _run(home, *before, *command, cwd=cwd, text=text, **variables)
    if trace.exists():
        seen = trace.read_text(errors="replace")
        assert not re.search(r"connect\(.*AF_INET" if probing else "AF_INET", seen)
        assert "/etc/resolv.conf" not in seen
    return printed


def run_cut_off(
    home: Path, *command: str | Path, cwd: Path, text: str = "", **variables: str
) -> str:
    """Run a command that would send telemetry, without a network; the rest is `run_silently`'s.

    Skips the test where the network cannot be taken away.
    """
    unshare = ["unshare", "--map-root-user", "--net"]
    if not shutil.which(unshare[0]) or subprocess.run([*unshare, "true"], check=False).returncode:
        pytest.skip("unshare cannot take the network away: telemetry would leave this machine")
    return _run(home, *unshare, *command, cwd=cwd, text=text, **variables)


def _run(home: Path, *command: str | Path, cwd: Path, text: str, **variables: str) -> str:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in NEEDED or name.startswith(NEEDED_BY_DOTNET)
    }
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | {"HOME": str(home)} | variables,
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
