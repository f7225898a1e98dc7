"""What Ruff and mypy say of the Python client, whatever is rendered."""

from pathlib import Path

import pytest

from generation.python.commands import check_clean
from support.clients.hostile import CONTRACTS
from support.clients.rendered import NAMES, OUTPUTS, write

pytestmark = pytest.mark.python


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_every_render_is_clean(
    python: Path, every_feed: Path, tmp_path: Path, name: str, contract: str
) -> None:
    """Ruff has nothing to change and mypy nothing to say, whatever the name and the prompts."""
    folder = write(
        "python", tmp_path / "client", every_feed, name=name, contract=CONTRACTS[contract]
    )
    check_clean(python, folder, types=contract == "hostile")


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_clean(python: Path, every_feed: Path, tmp_path: Path, output: str) -> None:
    """The same, whatever the dtype of the embeddings."""
    folder = write("python", tmp_path, every_feed, contract={"output": OUTPUTS[output]})
    check_clean(python, folder)
