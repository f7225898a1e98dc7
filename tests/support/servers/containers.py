"""Containers of the image that ``nox -s container`` builds."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

#: podman or docker, where the image was built with it.
ENGINE = os.environ.get("POLYBAKE_CONTAINERS", "")
IMAGE = "polybake-serve"

#: What deploy/ promises the image bears: no file of its root can be written, no right is left.
CONFINED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
if ENGINE == "podman":
    CONFINED += ("--read-only-tmpfs=false",)  # its /tmp and /run would be there to be written


def engine(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """A command of the engine, if it ends with ``code``."""
    command = [ENGINE, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def inspected(name: str) -> dict[str, Any]:
    """What the engine knows of a container or an image."""
    (found,) = json.loads(engine("inspect", name).stdout)
    return dict(found)


@dataclass(frozen=True)
class Container:
    """A container that serves."""

    name: str
    url: str

    def ended(self) -> int:
        """Stop it as engines and Kubernetes do, and give its exit code."""
        engine("stop", "--time", "40", self.name)
        return int(inspected(self.name)["State"]["ExitCode"])


@contextmanager
def running(*arguments: object, image: str = IMAGE) -> Iterator[Container]:
    """A container that is ready, confined; ``arguments`` are the engine's."""
    options = ("--detach", "--publish", "127.0.0.1::8080", *CONFINED, *arguments)
    name = engine("run", *options, image).stdout.strip()
    try:
        url = "http://" + engine("port", name, "8080").stdout.strip()
        until = time.monotonic() + 60
        while not _ready(url):
            assert time.monotonic() < until, engine("logs", name).stderr
            time.sleep(0.1)
        yield Container(name, url)
    finally:
        engine("rm", "--force", name)


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/ready").status_code == 200
    except httpx.TransportError:
        return False
