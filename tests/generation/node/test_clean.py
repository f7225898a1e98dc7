"""What Biome, TypeScript and Node say of the client, whatever is rendered."""

import json
from pathlib import Path
from typing import Any

import pytest

from polybake.base.modelfile.container import read_head
from support.clients.hostile import CONTRACTS
from support.clients.npm import Another, check_clean, check_types
from support.clients.rendered import NAMES, OUTPUTS, attempt, run, write

pytestmark = pytest.mark.node


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_every_render_is_clean(
    another: Another, every_feed: Path, name: str, contract: str
) -> None:
    """Biome has nothing to change or to say, whatever the name and the prompts."""
    check_clean(another(every_feed, name=name, contract=CONTRACTS[contract]))


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_clean(another: Another, every_feed: Path, output: str) -> None:
    """The same, whatever the dtype of the embeddings; TypeScript has nothing to say either."""
    folder = another(every_feed, contract={"output": OUTPUTS[output]})
    check_clean(folder, types=True)


def test_its_types_are_right(client: Path) -> None:
    """TypeScript finds nothing, and that index.d.ts says what the code does."""
    check_types(client)
    types = client / "index.d.ts"
    whole = types.read_text(encoding="utf-8")
    types.write_text(whole.replace("readonly row: number", "readonly row: string"))
    done = attempt("npm", "run", "types", cwd=client)
    types.write_text(whole)
    assert done.returncode != 0
    assert "tests/types.ts" in done.stdout


@pytest.mark.parametrize(
    "contract",
    [*CONTRACTS.values(), {"prompts": {"__proto__": "p", "constructor": "c", "1": "one"}}],
    ids=[*CONTRACTS, "inherited"],
)
def test_the_contract_is_rendered_exactly(
    every_feed: Path, tmp_path: Path, contract: dict[str, Any]
) -> None:
    """Node reads from contract.js what the manifest holds, hostile prompts included."""
    folder = write("node", tmp_path / "client", every_feed, contract=contract)
    show = 'import { CONTRACT } from "./src/contract.js"; console.log(JSON.stringify(CONTRACT))'
    found = json.loads(run("node", "--input-type=module", "--eval", show, cwd=folder))
    expected = read_head(every_feed).manifest.contract.model_copy(update=contract)
    assert found == expected.model_dump(mode="json")
