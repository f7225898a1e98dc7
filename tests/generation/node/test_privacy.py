"""Nothing leaves the machine by the Node client."""

from pathlib import Path

import pytest

from support.processes.fresh_home import run_silently

pytestmark = pytest.mark.node

#: A user's module, which opens the model of MODEL by the client in SOURCE.
USE = """
const { Embedder } = await import(process.env.SOURCE);
const embedder = await Embedder.open(process.env.MODEL);
await embedder.embed(["a"]);
await embedder.close();
"""


def test_nothing_leaves_the_machine(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A fresh home stays empty, and no name is looked up."""
    home = tmp_path / "home"
    paths = {"SOURCE": (client / "src/index.js").as_uri(), "MODEL": str(every_feed)}
    run_silently(home, "node", "--input-type=module", "--eval", USE, cwd=tmp_path, **paths)
    assert list(home.iterdir()) == []
