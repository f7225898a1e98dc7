"""Runs ``polybake embed`` and kills it at its n-th step on disk, for every n until it gets through.

A process of its own, as it forks; of each death it says whether the output was there, and of what
the same command then wrote, whether it is what a run without interruption writes.
"""

import io
import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from polybake.base.texts import open_corpus, window
from polybake.bulk.embed.embed import embed
from polybake.bulk.embed.machine import Machine
from polybake.runtime.prompt import Prompt

#: What changes the disk so that another process sees it.
STEPS = [
    (Path, "mkdir"),
    (Path, "replace"),
    (Path, "unlink"),
    (Path, "rmdir"),
    (Path, "chmod"),
    (os, "fsync"),
]


def run(model: Path, texts: Path, out: Path, *, force: bool = False) -> None:
    embed(
        model,
        open_corpus(texts),
        out,
        prompt=Prompt(),
        machine=Machine(threads=1),
        force=force,
        console=Console(file=io.StringIO()),
    )


def dying(left: int) -> None:
    """Let this process be killed at a step."""
    steps = itertools.count()

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            if next(steps) == left:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **more)

        return call

    for owner, name in STEPS:
        setattr(owner, name, counted(getattr(owner, name)))


def in_child(work: Callable[[], None]) -> bool:
    """Whether a forked process came to its end; False where it was killed."""
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFEXITED(status) or os.WTERMSIG(status) == signal.SIGKILL
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFEXITED(status)


def main(model: Path, texts: Path, suffix: str) -> None:
    window.MOST_ROWS = 4
    folder = texts.parent / "runs"
    folder.mkdir()
    whole = texts.with_name(f"whole{suffix}")
    in_child(lambda: run(model, texts, whole))
    for left in itertools.count():
        out = folder / f"out{suffix}"

        def killed(left: int = left, out: Path = out) -> None:
            dying(left)
            run(model, texts, out)

        if in_child(killed):
            print(f"through after {left}")  # noqa: T201 - the test reads it
            break
        there = out.exists()
        if there:
            assert out.read_bytes() == whole.read_bytes(), left
        assert in_child(lambda out=out, there=there: run(model, texts, out, force=there)), left
        assert out.read_bytes() == whole.read_bytes(), left
        names = {out.name} if suffix == ".parquet" else {out.name, f"{out.name}.json"}
        assert {path.name for path in folder.iterdir()} == names, left
        print(f"{left} {'there' if there else 'not there'}")  # noqa: T201 - the test reads it
        shutil.rmtree(folder)
        folder.mkdir()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
