"""The browser's client in a user's project: what its README promises, and its types."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clients.npm import Another
from support.clients.readme import blocks
from support.clients.rendered import run, write

pytestmark = pytest.mark.browser

#: A page that opens the model at an address.
PAGE = """
import { Embedder } from "every-feed";
export async function answer(address) {
  await using embedder = await Embedder.open(address);
  return String(await embedder.selfCheck());
}
"""

#: Lets a page of a client's folder do so.
ASK = """
import { openPage } from "./harness/chromium.js";
const page = await openPage("app/page.js", { imports: JSON.parse(process.env.IMPORTS) });
page.serve("/model.onnx", process.env.MODEL);
console.log(await page.ask("/model.onnx"));
await page.close();
process.exit();
"""


@pytest.fixture(scope="module")
def project(
    client: Path, every_feed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A user's project, with what the README installs, in a folder that Chromium is shown."""
    source = write("browser", tmp_path_factory.mktemp("outside") / "browser", every_feed)
    folder = client / "app"
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    (folder / "page.js").write_text(PAGE)
    (install,) = [code for code in blocks(client, "sh") if code.startswith("npm config ")]
    assert "npm install ./clients/browser" in install
    run("sh", "-c", install.replace("./clients/browser", str(source)), cwd=folder)
    yield folder
    shutil.rmtree(folder)


def asked(client: Path, model: Path, imports: dict[str, str | None]) -> str:
    """What the page says of the model, where the import map has these entries as well."""
    command = ("node", "--input-type=module", "--eval", ASK)
    return run(*command, cwd=client, MODEL=str(model), IMPORTS=json.dumps(imports))


def test_it_needs_no_bundler(client: Path, project: Path, every_feed: Path) -> None:
    """The README's import map is all that a page has to say."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    (given,) = re.findall(r'<script type="importmap">(.*?)</script>', readme, re.DOTALL)
    imports = json.loads(given)["imports"]
    assert all((project / path).is_file() for path in imports.values())
    imports = {name: path.replace("./", "/app/", 1) for name, path in imports.items()}
    assert float(asked(client, every_feed, imports)) < 1e-5


def test_a_bundler_needs_no_settings(client: Path, project: Path, every_feed: Path) -> None:
    """Vite finds worker, runtime and WebAssembly by itself, in a page without an import map."""
    run("npm", "install", "--save-dev", "vite", cwd=project)
    (project / "vite.config.js").write_text("""
        const output = { entryFileNames: "page.js" };
        const rollupOptions = { input: "page.js", preserveEntrySignatures: "strict", output };
        export default { base: "/app/", build: { outDir: "../built", rollupOptions } };
    """)
    run("npx", "vite", "build", "--emptyOutDir", cwd=project)
    shown = project.rename(client / "source")
    (client / "built").rename(project)
    try:
        assert float(asked(client, every_feed, {"onnxruntime-web/wasm": None})) < 1e-5
    finally:
        project.rename(client / "built")
        shown.rename(project)


def test_without_runtime_it_says_what_to_do(another: Another, every_feed: Path) -> None:
    """A page that neither maps the runtime nor is bundled has an error with a remedy."""
    folder = another(every_feed)
    (folder / "app").mkdir()
    (folder / "app/page.js").write_text("""
        import { Embedder } from "../src/index.js";
        export const answer = (address) => Embedder.open(address).catch((error) => error.message);
    """)
    message = asked(folder, every_feed, {"onnxruntime-web/wasm": None})
    assert "name onnxruntime-web/wasm in the page's import map, or bundle the page" in message


TYPED = """
import { Embedder, EmbedderError, type OpenOptions, type Source, type Vector } from "every-feed";
const progress: OpenOptions["progress"] = ({ loaded, total }) => loaded / total;
export async function main(file: File, signal: AbortSignal): Promise<number> {
  const sources: Source[] = [new URL("m.onnx", import.meta.url), file, new ArrayBuffer(1)];
  await using embedder = await Embedder.open(sources[0]!, { cache: true, progress, signal });
  const vectors: Float32Array[] = await embedder.embed(["a"], { prompt: "query" });
  const vector: Vector = await embedder.embedQuery("a");
  // @ts-expect-error there is no such device
  await Embedder.open("m.onnx", { device: "webgpu" }).catch((error: EmbedderError) => error);
  return vectors.length + vector.length;
}
"""


def test_its_types_reach_users(client: Path, project: Path) -> None:
    """A strict project compiles, and declarations are checked."""
    (project / "typed.ts").write_text(TYPED)
    strict = ("--strict", "--target", "es2022", "--noEmit", "--skipLibCheck", "false")
    modules = ("--module", "esnext", "--moduleResolution", "bundler", "--ignoreConfig")
    run(client / "node_modules/.bin/tsc", *strict, *modules, "typed.ts", cwd=project)
