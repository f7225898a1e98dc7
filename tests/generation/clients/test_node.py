"""What only Node has: types beside its code, and a user's project."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from generation.clients.conftest import alone
from support.clients.rendered import attempt, blocks, run, write
from support.clients.toolchain import Toolchain

pytestmark = alone("node")


def test_its_types_say_what_it_does(toolchain: Toolchain, every_feed: Path, tmp_path: Path) -> None:
    """TypeScript finds a declaration that is not what the code does."""
    client = write("node", tmp_path / "node", every_feed)
    toolchain.build(client)
    types = client / "index.d.ts"
    whole = types.read_text(encoding="utf-8")
    types.write_text(whole.replace("readonly index: number", "readonly index: string"))
    done = attempt("npm", "run", "types", cwd=client)
    assert done.returncode != 0
    assert "tests/types.ts" in done.stdout


@pytest.fixture(scope="module")
def project(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project outside the client's folder, with what the README and a later command install."""
    folder = tmp_path_factory.mktemp("an empty project")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    client = write("node", tmp_path_factory.mktemp("outside") / "node", every_feed)
    (folder / "clients").symlink_to(client.parent)  # where the tests read its README
    install = blocks(client, "sh")[0]
    assert "npm install ./clients/node" in install
    run("sh", "-c", install.replace("./clients/node", str(client)), cwd=folder)
    run("npm", "install", "-D", "typescript@~7.0.2", "@types/node@^20.19.0", cwd=folder)
    assert not (client / "node_modules").exists()
    yield folder
    shutil.rmtree(folder / "node_modules")


def run_module(project: Path, code: str, name: str = "a module.js") -> str:
    """What a module in a user's project prints."""
    (project / name).write_text(code, encoding="utf-8")
    return run("node", name, cwd=project)


def test_the_package_holds_the_library_alone(client: Path) -> None:
    """Neither tests nor the harness are packed; code, types and README are."""
    (packed,) = json.loads(run("npm", "pack", "--dry-run", "--json", "--silent", cwd=client))
    names = {file["path"] for file in packed["files"]}
    assert {name for name in names if not name.startswith("src/")} == {
        "README.md",
        "bulk.d.ts",
        "cuda.d.ts",
        "index.d.ts",
        "package.json",
    }


def test_the_stream_of_the_readme(project: Path, every_feed: Path) -> None:
    """It gives a vector for each line of a file."""
    _, stream = blocks(project / "clients/node", "js", every_feed)
    (project / "texts.txt").write_text("a\nb\n", encoding="utf-8")
    assert run_module(project, stream).count("Float32Array(7) [") == 2


def test_the_recipe_runs(project: Path, every_feed: Path, repository: Path) -> None:
    """The AI SDK takes the client for models of its own."""
    run("npm", "install", "ai", cwd=project, ONNXRUNTIME_NODE_INSTALL="skip")
    recipe = repository / "recipes/node/ai_sdk.js"
    (project / "ai_sdk.js").write_text(recipe.read_text(encoding="utf-8"), encoding="utf-8")
    script = f"""
        import {{ cosineSimilarity, embed, embedMany }} from "ai";
        import {{ Embedder }} from "every-feed";
        import {{ embeddingModels }} from "./ai_sdk.js";
        const embedder = await Embedder.open({json.dumps(str(every_feed))});
        const {{ documents, queries }} = embeddingModels(embedder);
        const values = ["The cat sleeps on the sofa.", "Shares fell again today."];
        const {{ embeddings }} = await embedMany({{ model: documents, values }});
        const {{ embedding }} = await embed({{ model: queries, value: "a pet that rests" }});
        console.log(embeddings.map((one) => cosineSimilarity(one, embedding)));
        """
    cat, shares = json.loads(run_module(project, script))
    assert -1 <= min(cat, shares) < max(cat, shares) <= 1


def test_it_can_be_required(project: Path, every_feed: Path) -> None:
    """A CommonJS module requires it, without a flag."""
    script = (
        'const { Embedder } = require("every-feed");\n'
        f"Embedder.open({json.dumps(str(every_feed))})"
        ".then((embedder) => embedder.selfCheck()).then(console.log);\n"
    )
    assert float(run_module(project, script, "required.cjs").splitlines()[0]) < 1e-5


TYPED = """
import { ClientError, Embedder, InvalidTextError, type PromptOptions } from "every-feed";
import { each } from "every-feed/bulk";
import { checkProducts } from "every-feed/cuda";
const options: PromptOptions = { prompt: "query" };
export async function main(signal: AbortSignal): Promise<number> {
  await checkProducts(new URL("file:///m.onnx"));
  await using embedder = await Embedder.open("m.onnx", { threads: 1 });
  const vectors: Float32Array[] = await embedder.embed(new Array("a").values(), options);
  const vector: Float32Array = await embedder.embedQuery("a");
  async function* texts(): AsyncGenerator<string> {
    yield "a";
  }
  const embed = (window: string[]) => embedder.embed(window);
  for await (const one of each([embed, embed], texts(), { signal })) one satisfies Float32Array;
  try {
    await embedder.embedIds([[1], new Uint32Array(1)]);
  } catch (error) {
    if (error instanceof InvalidTextError) return error.index;
    if (error instanceof ClientError) throw error;
  }
  // @ts-expect-error a string is no list of texts
  await embedder.embed("a");
  // @ts-expect-error there is no such option
  await embedder.embed(["a"], { promt: "query" });
  // @ts-expect-error it is opened, not made
  new Embedder();
  return vectors.length + vector.length;
}
"""


@pytest.mark.parametrize(
    "options",
    [
        "--module nodenext --types node",
        "--module nodenext --lib es2022",
        "--module esnext --moduleResolution bundler --lib es2022",
    ],
)
def test_its_types_reach_users(project: Path, options: str) -> None:
    """A strict project compiles, with and without Node's own types; declarations are checked."""
    (project / "typed.ts").write_text(TYPED)
    tsc = project / "node_modules/.bin/tsc"
    strict = ("--strict", "--target", "es2022", "--noEmit", "--skipLibCheck", "false")
    run(tsc, *strict, *options.split(), "typed.ts", cwd=project)
