"""Run Ruby with a client and its gems."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

#: For what must end: a hang is what some tests look for.
SECONDS = 300


def settings(gems: str) -> dict[str, str]:
    """What Ruby is told of its gems and its texts."""
    (gem_path,) = Path(gems).glob("ruby/*")
    return {"LANG": "C.UTF-8", "GEM_PATH": str(gem_path)}


def ruby(
    client: Path,
    gems: str,
    *arguments: str | Path,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    """Run Ruby with the client and its gems, and with nothing else of this environment."""
    return subprocess.run(
        [str(part) for part in ("ruby", "-I", client / "lib", *arguments)],
        cwd=client,
        env={"PATH": os.environ["PATH"], **settings(gems)} | more,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def evaluate(client: Path, gems: str, model: Path, script: str, **more: str) -> str:
    """What a script printed that must succeed; ``MODEL`` is the model's path."""
    name = client.joinpath("lib").glob("*.rb").__next__().stem
    done = ruby(client, gems, "-w", "-r", name, "-e", script, MODEL=str(model), **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def own_tests(
    folder: Path, model: Path, gems: str, names: str = "*"
) -> subprocess.CompletedProcess[str]:
    """Run the client's own tests, as its Rakefile does, or those of these names."""
    script = f'Dir["test/**/{names}_test.rb"].each {{ |path| require "./#{{path}}" }}'
    return ruby(folder, gems, "-w", "-e", script, POLYBAKE_MODEL=str(model))
