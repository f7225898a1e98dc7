"""Memory of a process that runs the C# client."""

from pathlib import Path

import pytest

from support.clients.conversation import resident
from support.clients.rendered import prepare, write

pytestmark = pytest.mark.csharp


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_closing_frees(baked_minilm: Path, tmp_path: Path) -> None:
    """Ten times opened, used and closed, a model takes at most 1.3 times the memory of once."""
    client = prepare(write("csharp", tmp_path / "client", baked_minilm))
    kilobytes = resident(client, baked_minilm, 10)
    assert kilobytes[-1] <= 1.3 * kilobytes[0], kilobytes
