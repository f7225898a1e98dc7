"""deploy/Containerfile: what it says of polybake is true."""

from __future__ import annotations

import re
from pathlib import Path

from support.processes.commandline import run
from support.servers.deployment import DEPLOY, instructions, serve_default, words


def test_it_installs_the_wheel_beside_it() -> None:
    """The wheel is installed by path, as a name on a registry may be anybody's."""
    assert "polybake-*.whl /build/" in instructions("COPY")
    (install,) = (line for line in instructions("RUN") if "polybake-*.whl" in line)
    assert install.endswith("--no-deps /build/polybake-*.whl")


def test_without_a_model_it_says_where_one_is_missing(tmp_path: Path) -> None:
    """The command as it stands in the image, options included, is one that polybake takes."""
    command = words("ENTRYPOINT") + words("CMD")
    arguments = command[command.index("polybake") + 1 :]
    assert not Path(arguments[-1]).exists()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"polybake: {arguments[-1]}: cannot be read")


def test_it_listens_where_it_says() -> None:
    """A container's address is not known, so it listens on all, at the default port of serve."""
    command = words("ENTRYPOINT")
    assert command[command.index("--host") + 1] == "0.0.0.0"  # noqa: S104
    assert instructions("EXPOSE") == [str(serve_default("port"))]


def test_nobody_in_it_is_root() -> None:
    """The last stage, which is kept, sets a user by number, so that Kubernetes can check it."""
    assert instructions("FROM")[-1] == "scratch"
    assert re.fullmatch(r"([1-9]\d+):([1-9]\d+)", instructions("USER")[-1])


def test_the_builder_is_sent_nothing_else() -> None:
    """Models and secrets that lie in the folder for compose.yaml stay out of every layer."""
    rules = (DEPLOY / ".dockerignore").read_text(encoding="utf-8").split()
    assert rules == ["*", "!requirements.txt", "!*.whl"]
