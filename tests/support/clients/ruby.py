"""Ruby clients with their gems, and programs that use them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.clients.rendered import run, write

#: For what must end: a hang is what some tests look for.
SECONDS = 300


@pytest.fixture(scope="session")
def gems(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for gems that the bundles of all tests share."""
    return str(tmp_path_factory.mktemp("gems"))


@pytest.fixture(scope="session")
def ruby_client(gems: str, every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Ruby client of the model that takes every feed, its gems installed."""
    folder = write("ruby", tmp_path_factory.mktemp("client"), every_feed)
    run("bundle", "install", "--quiet", cwd=folder, BUNDLE_PATH=gems)
    return folder


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


def blocks(client: Path, model: Path) -> list[str]:
    """The Ruby code of the client's README, with the model's path put in."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"```ruby\n(.*?)```", readme, re.DOTALL)
    return [block.replace(f"{model.stem}.onnx", str(model)) for block in found]


def own_tests(
    folder: Path, model: Path, gems: str, names: str = "*"
) -> subprocess.CompletedProcess[str]:
    """Run the client's own tests, as its Rakefile does, or those of these names."""
    script = f'Dir["test/**/{names}_test.rb"].each {{ |path| require "./#{{path}}" }}'
    return ruby(folder, gems, "-w", "-e", script, POLYBAKE_MODEL=str(model))
