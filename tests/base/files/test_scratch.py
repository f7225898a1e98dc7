from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from polybake.base.files.scratch import Scratch

CUT_SHORT = """
import shutil
from polybake.base.files.scratch import Scratch

def cut_short(*_, **__):
    shutil.rmtree = real
    raise SystemExit(129)

with Scratch() as name:
    print(name)
    open(name + "/weights", "w").close()
    real, shutil.rmtree = shutil.rmtree, cut_short
    Scratch._rmtree = cut_short
"""


def test_it_is_gone_after_its_block() -> None:
    with Scratch() as name:
        folder = Path(name)
        (folder / "weights").touch()
    assert not folder.exists()


def test_a_removal_that_is_cut_short_is_made_up_for(tmp_path: Path) -> None:
    """A signal that interrupts the removal of a scratch folder leaves nothing behind."""
    done = subprocess.run(
        [sys.executable, "-c", CUT_SHORT],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.startswith(str(tmp_path))) == (129, True), done.stderr
    assert [*tmp_path.iterdir()] == []
