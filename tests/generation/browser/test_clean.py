"""What Biome and TypeScript say of the browser's client, whatever is rendered."""

from pathlib import Path

import pytest

from support.clients.hostile import CONTRACTS
from support.clients.npm import Another, check_clean
from support.clients.rendered import NAMES, OUTPUTS

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_every_render_is_clean(
    another: Another, every_feed: Path, name: str, contract: str
) -> None:
    """Whatever the name and the prompts."""
    check_clean(another(every_feed, name=name, contract=CONTRACTS[contract]))


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_clean(another: Another, every_feed: Path, output: str) -> None:
    """The same, whatever the dtype of the embeddings; TypeScript has nothing to say either."""
    folder = another(every_feed, contract={"output": OUTPUTS[output]})
    check_clean(folder, types=True)
